import { closeSync, openSync, readSync } from 'node:fs'

const FOLLOW_MS = 500
const CHUNK_BYTES = 65_536

/** Copies to stdout what is written into a file. Returns a function that copies the rest and ends it. */
export function follow(file) {
  const log = openSync(file, 'r')
  const timer = setInterval(() => copyRest(log), FOLLOW_MS)
  return () => {
    clearInterval(timer)
    copyRest(log)
    closeSync(log)
  }
}

function copyRest(log) {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let bytes = -1; bytes !== 0;) {
    bytes = readSync(log, chunk)
    process.stdout.write(chunk.toString('latin1', 0, bytes), 'latin1')
  }
}
