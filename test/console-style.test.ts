/** One scale of distances: what stands apart alike looks alike. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const STYLE = new URL('../console/src/style/', import.meta.url)
/** Up to three pixels are lines, and what optically belongs to a letter. */
const FINE_PX = 3

test('distances in the console are those of its scale', () => {
  const others = readdirSync(STYLE).flatMap((name) => {
    const text = readFileSync(new URL(name, STYLE), 'utf8')
    const distances = text.matchAll(/(?<![\w-])(?:padding|margin|gap)[a-z-]*:\s*([^;{}]+)/g)
    return Array.from(distances, ([line, values = '']) => ({ line, values }))
      .filter(({ values }) => {
        const sizes = values.matchAll(/(-?[\d.]+)(px|rem|em|%|vw|vh)/g)
        return Array.from(sizes).some(([, size, unit]) => unit !== 'px' || Math.abs(Number(size)) > FINE_PX)
      })
      .map(({ line }) => `${name}: ${line}`)
  })
  expect(others).toEqual([])
})
