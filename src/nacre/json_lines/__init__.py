"""JSON lines on stdin and stdout, for the servers that speak them: `nacre rpc` and `nacre mcp`."""
