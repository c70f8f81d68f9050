import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useEvery } from '../state/every.ts'
import { follow } from './live.ts'
import type { LiveEvent } from '../server/events.ts'
import { problemOf, type RequestProblem } from '../server/problem.ts'

/** While the server cannot be asked, what is shown is asked for again this often. */
const RETRY_MS = 5_000

/** The data of a view. While it is read again, and while the server cannot be asked, `value` is the value before. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly problem: RequestProblem | undefined
  readonly isLoading: boolean
  /** Reads it again, and shows that it does. */
  readonly reload: () => void
  /** Reads it again by itself. */
  readonly refresh: () => void
}

interface Result<T> {
  readonly key: string
  readonly value?: T | undefined
  readonly problem?: RequestProblem | undefined
}

/**
 * Reads something whenever `key` changes. Only the answer to the last request counts, so that a slow one
 * never replaces a newer one. A value of another key is not shown. With `isMeant` it is read again, quietly,
 * when such an event says that it has changed.
 */
export function useLoaded<T>(
  key: string,
  load: () => Promise<T>,
  isMeant?: (event: LiveEvent) => boolean,
): Loaded<T> {
  const [result, setResult] = useState<Result<T>>({ key: '' })
  const [isLoading, setLoading] = useState(true)
  const last = useRef(0)
  const latest = useRef(load)
  latest.current = load
  const read = useCallback(
    async (isQuiet: boolean): Promise<void> => {
      const own = ++last.current
      if (!isQuiet) setLoading(true)
      const settled = await resultOf(key, latest.current)
      if (own !== last.current) return
      setLoading(false)
      setResult((before) =>
        isPassing(settled.problem) && before.key === key ? { ...before, ...settled } : settled,
      )
    },
    [key],
  )
  const run = useCallback(() => void read(false), [read])
  useEffect(() => {
    run()
    return () => void last.current++
  }, [run])
  useEvents(isMeant, read)
  const isOfKey = result.key === key
  const refresh = useCallback(() => void read(true), [read])
  useEvery(isOfKey && isPassing(result.problem) ? RETRY_MS : undefined, refresh)
  return {
    value: isOfKey ? result.value : undefined,
    problem: isOfKey ? result.problem : undefined,
    isLoading: isLoading || !isOfKey,
    reload: run,
    refresh,
  }
}

/** The last read value, and its request. */
export interface Shown<T, Asked> {
  readonly value: T
  readonly asked: Asked
}

/** The value that a list shows: the requested one, else the value read last within the same `scope`. So rows stay on the screen
 * while the next page is read, also where the server cannot be asked for it.
 */
export function useShown<T, Asked>(
  scope: string,
  found: Loaded<T>,
  asked: Asked,
): Shown<T, Asked> | undefined {
  const last = useRef<(Shown<T, Asked> & { readonly scope: string }) | undefined>(undefined)
  if (found.value !== undefined) last.current = { scope, value: found.value, asked }
  return last.current?.scope === scope ? last.current : undefined
}

/** Reads again, quietly, when such an event comes. */
function useEvents(
  isMeant: ((event: LiveEvent) => boolean) | undefined,
  read: (isQuiet: boolean) => Promise<void>,
): void {
  const meant = useRef(isMeant)
  meant.current = isMeant
  const isLive = isMeant !== undefined
  useEffect(
    () =>
      isLive
        ? follow(
            (event) => meant.current?.(event) === true,
            () => read(true),
          )
        : undefined,
    [read, isLive],
  )
}

async function resultOf<T>(key: string, load: () => Promise<T>): Promise<Result<T>> {
  try {
    return { key, value: await load() }
  } catch (error) {
    return { key, problem: problemOf(error) }
  }
}

/** Whether the server cannot be reached for now. */
function isPassing(problem: RequestProblem | undefined): boolean {
  return problem !== undefined && (problem.status === 0 || problem.status >= 500)
}
