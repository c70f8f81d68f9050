import { fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import type { FromCopier, FromCopierThread, ToCopierThread } from './copier-messages.ts'

// The thread that starts the copying process and passes messages between it and the server. Starting a process copies the
// tables of all the server's memory, and waits until the new process runs. That takes 4 to 13 ms at 220 MB, more where no
// processor is free. Clients of the main thread would wait for it; now they wait only for the start of this thread.

const MOST_STDERR = 2_000

const port = parentPort
if (port === null)
  throw new Error('This module is the thread of the copying process and does not run by itself')

const child = fork(fileURLToPath(new URL('./copier.js', import.meta.url)), [], {
  execArgv: [],
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
})
// Before it has threads, which inherit this: not even its start takes the processor from the server.
if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)

let stderr = ''
// It ends with the process; the event 'close' of the process itself does not come after `disconnect`.
child.stderr
  ?.setEncoding('utf8')
  .on('data', (text: string) => (stderr = (stderr + text).slice(-MOST_STDERR)))
  .on('close', end)
child.on('message', (message: FromCopier) => send(message))
child.on('error', (error) => {
  stderr = error.message
  end()
})
port.on('message', (message: ToCopierThread) => {
  if (!child.connected) return
  if (message.kind === 'stop') child.disconnect()
  else child.send(message, () => {})
})

function end(): void {
  send({ kind: 'ended', stderr })
  // Without a listener this thread ends, once the process has.
  port?.close()
}

function send(message: FromCopierThread): void {
  port?.postMessage(message)
}
