"""One beat: inputs, pre-screen, full run, receipts."""
