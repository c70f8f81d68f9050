import type { LibraryProgram } from './library.ts'

/** The npm client of 1.x, which uses HTTP. */
export const OLD: LibraryProgram = {
  folder: 'npm',
  versions: [{ version: '2.6.3' }],
  locks: ['package.json', 'package-lock.json'],
  install: [['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']],
  build: [],
  run: (_version, scratch) => ['node', 'driven.js', scratch],
}
