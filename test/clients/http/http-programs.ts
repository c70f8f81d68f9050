import type { LibraryProgram } from '../grpc/library.ts'

/** The npm library, which speaks HTTP only. */
export const NPM: LibraryProgram = {
  folder: 'npm',
  versions: [{ version: '2.6.3' }],
  locks: ['package.json', 'package-lock.json'],
  install: [['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']],
  build: [],
  run: (_version, scratch) => ['node', 'driven.js', scratch],
}

/** The Go library of before gRPC. */
export const GO_1: LibraryProgram = {
  folder: 'http/go',
  versions: [{ version: '1.1.6' }],
  locks: ['go.mod', 'go.sum'],
  install: [['go', 'mod', 'download']],
  build: [['go', 'build', '-buildvcs=false', '-o', 'program', '.']],
  run: (_version, scratch) => ['./program', scratch],
}

/** The Python library of before gRPC. */
export const PYTHON_0: LibraryProgram = {
  folder: 'http/python',
  versions: [{ version: '0.1.17' }],
  locks: ['requirements.txt'],
  install: [
    ['python3', '-m', 'venv', 'venv'],
    ['venv/bin/pip', 'install', '-q', '--disable-pip-version-check', '-r', 'requirements.txt'],
  ],
  build: [],
  run: (_version, scratch) => ['venv/bin/python', 'program.py', scratch],
}
