import { readFileSync } from 'node:fs'

/** The seed that `FUZZ_SEED` repeats: the title of each test has it. By default every run has another seed. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** For how long a fuzzer makes inputs, s: FUZZ_SECONDS, which `npm run test:fuzz` sets, or a short time. */
export const secondsOf = (short: number): number => Number(process.env['FUZZ_SECONDS'] ?? short)

interface Found<Input> {
  /** The error. */
  readonly why: string
  readonly input: Input
}

/** An input of a fuzzer as JSON, for the message of a failure and for `found.json`. Bytes are in Base64. */
export function asText(input: unknown): string {
  return JSON.stringify(input, (_key, value) =>
    value?.type === 'Buffer' ? { base64: Buffer.from(value.data).toString('base64') } : value,
  )
}

/** The inputs in `found.json` that once did harm. A fuzzer begins with them. */
export function foundBy<Input>(fuzzer: string): Input[] {
  const text = readFileSync(new URL('found.json', import.meta.url), 'utf8')
  const all = JSON.parse(text, (_key, value) =>
    typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value,
  ) as Record<string, Found<Input>[]>
  return (all[fuzzer] ?? []).map(({ input }) => input)
}
