import { execFileSync } from 'node:child_process'

/** Runs git in a directory. Throws if it fails. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/**
 * The versions of a JSON file in the history of a repository, the newest first. Undefined where the clone is shallow, or where there
 * is no git: a test of the history then proves nothing, and is skipped.
 */
export function versionsOf<T>(root: string, file: string): Partial<T>[] | undefined {
  if (!hasHistory(root)) return undefined
  const commits = git(root, 'log', '--format=%H', '--', file).split('\n').filter(Boolean)
  return commits.map((commit) => JSON.parse(git(root, 'show', `${commit}:${file}`)) as Partial<T>)
}

function hasHistory(root: string): boolean {
  try {
    return git(root, 'rev-parse', '--is-shallow-repository').trim() === 'false'
  } catch {
    return false
  }
}
