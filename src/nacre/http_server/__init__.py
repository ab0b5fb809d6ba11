"""What every HTTP server of nacre needs: a listening socket, time limits for requests, an end that waits for no client.

The only folder that imports uvicorn. In reading order: address (host, port, socket), timing (limits for headers and
bodies), serving (a uvicorn server that a cancellation ends).
"""
