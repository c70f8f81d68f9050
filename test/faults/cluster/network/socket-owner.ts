import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * The process among `pids` that has the near end of a loopback connection, found in /proc (Linux). Undefined if no process has it,
 * or if it has closed it already.
 */
export function ownerOf(port: number, pids: readonly number[]): number | undefined {
  const inode = inodeOf(port)
  if (inode === undefined) return undefined
  return pids.find((pid) => hasSocket(pid, inode))
}

/** The connections whose near end is on 127.0.0.1 at this port. */
function inodeOf(port: number): string | undefined {
  const near = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const fields = line.trim().split(/\s+/)
    if (fields[1] === near && fields[9] !== '0') return fields[9]
  }
  return undefined
}

function hasSocket(pid: number, inode: string): boolean {
  const directory = `/proc/${pid}/fd`
  try {
    return readdirSync(directory).some((file) => targetOf(`${directory}/${file}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function targetOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}
