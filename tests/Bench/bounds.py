"""What moving bytes takes on this machine, at the least: seconds for `bytes_of_one` to each of several receivers at once."""

import ctypes
import socket
import threading
import time


def together(count, work):
    """Seconds that `work` takes from the first of `count` threads to the last; each is there before the clock starts."""
    start, times = threading.Barrier(count), []

    def one(index):
        start.wait()
        begin = time.perf_counter()
        work(index)
        times.append((begin, time.perf_counter()))

    threads = [threading.Thread(target=one, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(end for _, end in times) - min(begin for begin, _ in times)


class Buffers:
    """A source and a place for each receiver, all touched."""

    def __init__(self, bytes_of_one, receivers):
        self.source = bytearray(b"\1") * bytes_of_one
        self.places = [bytearray(b"\2") * bytes_of_one for _ in range(receivers)]

    def copied(self):
        """By a memcpy of each receiver; ctypes lets them run at the same time."""
        source = ctypes.addressof(ctypes.c_char.from_buffer(self.source))
        places = [ctypes.addressof(ctypes.c_char.from_buffer(place)) for place in self.places]
        return together(len(places), lambda index: ctypes.memmove(places[index], source, len(self.source)))

    def sent(self):
        """Over a loopback TCP connection to each receiver."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            senders = [socket.create_connection(server.getsockname()) for _ in self.places]
            receivers = [server.accept()[0] for _ in self.places]

        def work(index):
            if index < len(senders):
                return senders[index].sendall(self.source)
            rest = memoryview(self.places[index - len(senders)])
            while rest:
                rest = rest[receivers[index - len(senders)].recv_into(rest):]

        seconds = together(2 * len(senders), work)
        for end in senders + receivers:
            end.close()
        return seconds
