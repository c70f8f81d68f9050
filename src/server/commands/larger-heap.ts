import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { tell } from '../../command/standard-error.ts'
import { END_WITH_ME_MESSAGE, STOP_MESSAGE } from './stop-signals.ts'

/** The options of Node.js by which somebody has chosen a size of the heap. */
const CHOSEN_HEAP = /--max[-_](?:old[-_]space|heap)[-_]size/
/** The exit code of a process that a signal ended is this and the number of the signal, as in a shell. */
const SIGNALLED = 128
const MIB = 1024 * 1024

/** Whether Node.js chose the size of the heap of this process, and no user did. */
export function hasUsualHeap(): boolean {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  return !options.some((option) => CHOSEN_HEAP.test(option))
}

/**
 * Runs the same command line in a child process with a heap of this many bytes. Resolves with the exit code of the child.
 * The child gets the signals of this process, and stops in order when this process is killed.
 */
export async function runWithHeap(bytes: number): Promise<number> {
  const size = Math.floor(bytes / MIB)
  tell(`waypost: the data need a larger heap: the server runs in a process of its own with ${size} MiB.\n`)
  const [script, ...words] = process.argv.slice(1)
  const child = spawn(
    process.execPath,
    [...process.execArgv, `--max-old-space-size=${size}`, script!, ...words],
    // Detached, so that Ctrl-C in a terminal reaches the child once, by this process.
    { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true },
  )
  child.send(END_WITH_ME_MESSAGE)
  const stop = () => handOn(child)
  process.on('SIGTERM', stop).on('SIGINT', stop)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal === null ? code! : SIGNALLED + constants.signals[signal]
}

/** The child may have ended a moment ago. */
function handOn(child: ChildProcess): void {
  if (child.connected) child.send(STOP_MESSAGE, () => undefined)
}
