/** A worker: large texts are read here, so that nobody waits for it while typing. */
import { applyKeys, type TakenKeys } from '../../../src/formats/apply-keys.ts'
import { changedKeys, keysOf } from '../../../src/formats/changed-keys.ts'
import { check } from '../../../src/formats/check.ts'
import { secretRanges } from '../../../src/formats/secrets.ts'
import type { CheckAnswer, CheckRequest } from './check-message.ts'

const CHECKS = {
  check,
  changedKeys,
  keysOf,
  secretRanges,
  applyKeys: (type: string, taken: string) => applyKeys(type, JSON.parse(taken) as TakenKeys),
}

addEventListener('message', ({ data }: MessageEvent<CheckRequest>) => void answer(data))

async function answer({ id, kind, texts: [type, ...texts] }: CheckRequest): Promise<void> {
  const run = CHECKS[kind] as unknown as (...args: readonly string[]) => Promise<unknown>
  try {
    tell({ id, value: await run(type, ...texts) })
  } catch (error) {
    tell({ id, error: String(error) })
  }
}

function tell(message: CheckAnswer): void {
  postMessage(message)
}
