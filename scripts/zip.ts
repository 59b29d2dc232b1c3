/** A ZIP archive of files, as PKWARE's APPNOTE 6.3 has it: deflated, without encryption, at most 65,535 files and 4 GiB. */

import { crc32, deflateRawSync } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UNIX = 3 << 8;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
/** 1 January 1980: the same files make the same archive. */
const DATE = 0x21;
const FILES_MAX = 0xffff;
const BYTES_MAX = 0xffffffff;

export interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Its permissions. */
  readonly mode: number;
}

export function zip(files: readonly ZippedFile[]): Buffer {
  if (files.length > FILES_MAX) throw new RangeError(`${files.length} files are too many for a ZIP archive`);
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes, mode } of files) {
    const packed = deflateRawSync(bytes);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    parts.push(word(LOCAL), common, path, packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    const version = Buffer.alloc(2);
    version.writeUInt16LE(UNIX | VERSION);
    directory.push(word(CENTRAL), version, common, tail, path);
    offset += 4 + common.length + path.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  if (offset + size > BYTES_MAX) throw new RangeError("the files are too long for a ZIP archive");
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, word(END), end]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
