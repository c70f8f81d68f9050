import { NotExaminable } from '../store/local-file.ts'
import { UsageError } from './command-line.ts'

/** Runs work on the directory of a stopped server. A directory that the work cannot use is a UsageError. */
export async function ofStoppedServer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotExaminable) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
