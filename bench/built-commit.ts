import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './project.ts'

/** A built commit, in a worktree of its own that `remove` takes away. */
export interface BuiltCommit {
  readonly mainFile: string
  remove(): void
}

/** Whether the repository has a commit. A shallow clone may not have it. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: projectRoot, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Builds a commit with the dependencies of its own lock file. */
export function buildCommit(commit: string): BuiltCommit {
  const directory = join(projectRoot, '.cache', `built-${commit}`)
  const git = (...args: string[]): void =>
    void execFileSync('git', ['worktree', ...args], { cwd: projectRoot, stdio: 'ignore' })
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true })
    git('prune')
  }
  remove()
  try {
    git('add', '--detach', directory, commit)
    for (const args of [
      ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
      ['run', 'build'],
    ])
      execFileSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] })
  } catch (error) {
    remove()
    throw error
  }
  return { mainFile: join(directory, 'dist', 'main.js'), remove }
}
