import type { Operation } from '../load/recording.ts'

/** An operation of a planted recording: it takes 10 ms and is acknowledged. */
export function operation(short: Partial<Operation> & Pick<Operation, 'id' | 'kind' | 'begunMs'>): Operation {
  const usual = { client: 'c', server: 0, key: 'a', outcome: 'ok' as const }
  return { ...usual, endedMs: short.begunMs + 10, ...short }
}
