import { existsSync, readFileSync } from 'node:fs'

let version: string | undefined

/** The version of this package, from the nearest package.json above this file, which may be part of a bundle. */
export function packageVersion(): string {
  version ??= versionIn(new URL('.', import.meta.url))
  return version
}

/** How commands name themselves to servers, which leave them out of the lists of clients. */
export const ownAgent = (): string => `waypost/${packageVersion()}`

function versionIn(directory: URL): string {
  const file = new URL('package.json', directory)
  if (!existsSync(file)) return versionIn(new URL('..', directory))
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
