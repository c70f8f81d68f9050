import type { LibraryProgram } from './library.ts'

/** The program with the Go library. */
export const GO: LibraryProgram = {
  folder: 'grpc/go',
  versions: [{ version: '2.3.5', says: 'Nacos-Go-Client:v2.3.5', signsInLate: true }],
  locks: ['go.mod', 'go.sum'],
  install: [['go', 'mod', 'download']],
  build: [['go', 'build', '-buildvcs=false', '-o', 'program', '.']],
  run: (_version, scratch) => ['./program', scratch],
}
