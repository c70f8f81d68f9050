import type { LibraryProgram } from '../grpc/library.ts'
import { IN_GO, IN_NODE, IN_PYTHON } from '../prepared-program.ts'

/** The npm library, which speaks HTTP only. */
export const NPM: LibraryProgram = {
  ...IN_NODE,
  language: 'npm',
  folder: 'npm',
  versions: [{ version: '2.6.3' }],
  run: (_version, scratch) => ['node', 'driven.js', scratch],
}

/** The Go library of before gRPC. */
export const GO_1: LibraryProgram = {
  ...IN_GO,
  language: 'Go',
  folder: 'go',
  versions: [{ version: '1.1.6' }],
  run: (_version, scratch) => ['./program', 'driven', scratch],
}

/** The Python library of before gRPC. */
export const PYTHON_0: LibraryProgram = {
  ...IN_PYTHON,
  language: 'Python',
  folder: 'python',
  versions: [
    {
      version: '0.1.17',
      lacks: {
        'large: a content of 10 MiB is published and read back': 'it publishes in the query',
        'large: a watcher of 3,000 items sees a change of one': 'it waits 3 s for an answer',
      },
    },
  ],
  run: (_version, scratch) => ['venv/bin/python', 'driven.py', scratch],
}
