import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of the project. This file runs here, and compiled in a deeper directory. */
export const projectRoot = above(dirname(fileURLToPath(import.meta.url)))

function above(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory
  return above(dirname(directory))
}

/** The path of another module of the bench, to start it as a process. */
export function modulePath(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url))
}
