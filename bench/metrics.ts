import type { Target } from './target.ts'

/** A metric of our server from `/metrics`; the sum if it has several series. */
export async function metric({ base }: Target, name: string): Promise<number> {
  const page = await fetch(new URL('/metrics', base)).then((answer) => answer.text())
  const values = page
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
  if (values.length === 0) throw new Error(`${base} has no metric ${name}.`)
  return values.reduce((sum, value) => sum + value, 0)
}
