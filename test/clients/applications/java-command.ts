import type { Command } from '../prepared-program.ts'

/** Small and quick to start: several run beside each other. */
const SMALL = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xss512k']

/** A program for Java. */
export interface JavaProgram {
  /** Folders and jars, separated by colons. */
  readonly classPath: string
  readonly main: string
  readonly properties?: Readonly<Record<string, string | number>>
  readonly args?: readonly string[]
  /** A folder for what its libraries write. */
  readonly home: string
}

/** The command that runs it. */
export function javaCommand({ classPath, main, properties = {}, args = [], home }: JavaProgram): Command {
  const all = { 'user.home': home, 'JM.LOG.PATH': home, 'JM.SNAPSHOT.PATH': home, ...properties }
  const set = Object.entries(all).map(([name, value]) => `-D${name}=${value}`)
  return ['java', ...SMALL, ...set, '-cp', classPath, main, ...args]
}
