"""Source files that more than one test asks questions about."""

RETRY = '''"""Sending, with patience."""

MAX_ATTEMPTS = 5


def send_with_retry(request):
    """Send a request again while the server is busy."""
    for attempt in range(MAX_ATTEMPTS):
        response = transport.send(request)
        if response.status != 503:
            return response
        sleep(backoff_s(attempt))
    raise GiveUp(request)
'''
