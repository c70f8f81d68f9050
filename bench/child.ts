import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A child process, which its owner must stop. */
export interface Child {
  readonly pid: number
  /** Sends a message and resolves with the next one from the child. Rejects if the process ends first. */
  ask(message: object | string): Promise<unknown>
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>
  /** Stops the process, with SIGKILL after some seconds. Resolves when it has ended. */
  stop(signal?: 'SIGKILL'): Promise<void>
}

const FORCE_AFTER_MS = 15_000
/** The longest job is the filling of a server with a million records. */
const ANSWER_TIMEOUT_MS = 600_000

/** The running children. They always end with this process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** Wraps a child process. */
export function childOf(child: ChildProcess): Child {
  running.add(child)
  const gone = once(child, 'exit').then(() => void running.delete(child))
  return {
    pid: child.pid!,
    ask: (message) => ask(child, message),
    gone,
    stop: async (signal) => {
      child.kill(signal ?? 'SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), FORCE_AFTER_MS)
      await gone
      clearTimeout(force)
    },
  }
}

/** Starts a module with a message channel. */
export function forkModule(file: string): Child {
  return childOf(fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }))
}

function ask(child: ChildProcess, message: object | string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(
      () => reject(new Error(`process ${child.pid} does not answer`)),
      ANSWER_TIMEOUT_MS,
    )
    const onMessage = (answer: unknown): void => {
      clearTimeout(patience)
      child.off('exit', onExit)
      const problem = (answer as { problem?: string } | undefined)?.problem
      if (problem === undefined) resolve(answer)
      else reject(new Error(problem))
    }
    const onExit = (code: number | null): void => {
      clearTimeout(patience)
      child.off('message', onMessage)
      reject(new Error(`process ${child.pid} ended with ${code} instead of answering`))
    }
    child.once('message', onMessage)
    child.once('exit', onExit)
    child.send(message)
  })
}
