"""One model run and its tools: knows nothing of Slack, threads or beats."""
