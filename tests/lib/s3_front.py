# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""In front of a server for S3, what networks do: python3 s3_front.py PORT_FILE SERVER_PORT FAULT_FILE

Listens on the loopback and hands requests on as they are. While FAULT_FILE says "503" it answers that itself; "slow S" waits S seconds
before each. Its port is in PORT_FILE once it listens. Ends with SIGTERM.
"""

import pathlib
import socket
import sys
import threading
import time

BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


def request(client):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        if not piece:
            return b""
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
    if b"expect: 100-continue" in lines:
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:"))
    while len(body) < length:
        body += client.recv(65536)
    return head + b"\r\nConnection: close\r\n\r\n" + body


def serve(client, port, fault):
    with client:
        asked = request(client)
        how = fault.read_text().split() if fault.exists() else []
        if not asked:
            return
        if how[:1] == ["503"]:
            client.sendall(b"HTTP/1.1 503 Slow Down\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BUSY) + BUSY)
            return
        if how[:1] == ["slow"]:
            time.sleep(float(how[1]))
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(asked)
            while piece := server.recv(65536):
                client.sendall(piece)


def main(port_file, port, fault):
    listener = socket.create_server(("127.0.0.1", 0))
    pathlib.Path(port_file + ".part").write_text(str(listener.getsockname()[1]))
    pathlib.Path(port_file + ".part").rename(port_file)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, int(port), pathlib.Path(fault)), daemon=True).start()


main(*sys.argv[1:])
