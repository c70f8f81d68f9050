import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const linesOf = (file: string): string[] => readFileSync(new URL(file, root), 'utf8').split('\n')

test('all that the Dockerfile copies exists, and .dockerignore admits it', () => {
  const [everything, ...admitted] = linesOf('.dockerignore').filter((line) => /^[^#]/.test(line))
  expect(everything).toBe('*')
  const copies = linesOf('Dockerfile').filter((line) => /^COPY (?!--from)/.test(line))
  const sources = copies.flatMap((line) => line.split(' ').slice(1, -1))
  expect(sources).toContain('console/package.json')
  for (const source of sources) {
    expect(existsSync(new URL(source, root)), source).toBe(true)
    const isAdmitted = admitted.some((line) => `${source}/`.startsWith(`${line.slice(1)}/`))
    expect(isAdmitted, source).toBe(true)
  }
})
