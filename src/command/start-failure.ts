import { resolve } from 'node:path'
import type { Settings } from '../settings/settings.ts'

/** One sentence on why the server could not start, and which setting to look at. */
export function startFailure(error: unknown, settings: Settings): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  const { host, port } = settings
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use already. Stop what uses it, or choose another with --port.`
  if (syscall === 'listen' && code === 'EACCES')
    return `port ${port} is not allowed to this user. Choose one above 1023 with --port.`
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `cannot listen on ${host}: ${message}. Choose an address of this machine with --host.`
  if (syscall)
    return `cannot use the data directory ${resolve(settings.dataDir)}: ${message}. Choose another with --data-dir.`
  return error instanceof Error ? message : String(error)
}
