"""Encodes and decodes header blocks with the library hpack. Usage: program.py FILE, with JSON in it and on the output.

{"encode": [connection], "decode": [connection]}: a connection is a list of blocks, which one encoder or decoder sees.
Texts are latin1, so that each character is a byte.
"""

import json
import sys

import hpack


def encode(connection):
    encoder = hpack.Encoder()
    blocks = []
    for block in connection:
        if block["tableSize"] is not None:
            encoder.header_table_size = block["tableSize"]
        fields = [_field(*field) for field in block["fields"]]
        blocks.append(encoder.encode(fields, huffman=block["huffman"]).hex())
    return blocks


def _field(name, value, is_sensitive):
    kind = hpack.NeverIndexedHeaderTuple if is_sensitive else hpack.HeaderTuple
    return kind(name.encode("latin1"), value.encode("latin1"))


def decode(connection):
    """The fields of each block up to the first that is wrong, which is null."""
    decoder = hpack.Decoder(max_header_list_size=1_000_000)
    lists = []
    for block in connection:
        try:
            fields = decoder.decode(bytes.fromhex(block), raw=True)
        except hpack.HPACKError:
            lists.append(None)
            break
        lists.append([[name.decode("latin1"), value.decode("latin1")] for name, value in fields])
    return lists


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        wanted = json.load(file)
    done = {
        "encode": [encode(connection) for connection in wanted["encode"]],
        "decode": [decode(connection) for connection in wanted["decode"]],
    }
    print(json.dumps(done))


main()
