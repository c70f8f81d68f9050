import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of the project: this file runs as it stands here and compiled, deeper down. */
export const projectRoot = above(dirname(fileURLToPath(import.meta.url)))

function above(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory
  return above(dirname(directory))
}

/** A module of the bench beside this one, as a path to start a process with. */
export function modulePath(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url))
}
