import type { Target } from './target.ts'

/** What a server of ours says of itself under `/metrics`; the sum where the metric has several series. */
export async function metric({ base }: Target, name: string): Promise<number> {
  const page = await fetch(new URL('/metrics', base)).then((answer) => answer.text())
  const values = page
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
  if (values.length === 0) throw new Error(`${base} has no metric ${name}.`)
  return values.reduce((sum, value) => sum + value, 0)
}
