/** The thread that compares passwords with bcrypt hashes: it computes for tens of milliseconds without a pause. */
import { parentPort } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'
import type { BcryptAnswer, BcryptQuestion } from './bcrypt.ts'

parentPort?.on('message', ({ id, password, hash }: BcryptQuestion) => {
  parentPort?.postMessage({ id, matches: compareSync(password, hash) } satisfies BcryptAnswer)
})
