import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { follow } from '../live/live.ts'
import type { LiveEvent } from '../server/events.ts'
import { problemOf, type Problem } from '../server/problem.ts'

/** What a view waits for. While it is read again, `value` is the one before. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly problem: Problem | undefined
  readonly isLoading: boolean
  /** Reads it again. */
  readonly reload: () => void
}

interface Result<T> {
  readonly key: string
  readonly value?: T | undefined
  readonly problem?: Problem | undefined
}

/**
 * Reads something whenever `key` changes. Of several answers only that of the last request counts, so that a slow one never
 * replaces a newer one. A value of another key is not shown. With `isMeant` it is read again, quietly, when such an event says
 * that it has changed.
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
  const meant = useRef(isMeant)
  meant.current = isMeant
  const read = useCallback(
    async (isQuiet: boolean): Promise<void> => {
      const own = ++last.current
      if (!isQuiet) setLoading(true)
      const settled = await resultOf(key, latest.current)
      if (own !== last.current) return
      setLoading(false)
      // What is shown stays while the server cannot be asked.
      if (!isQuiet || !isPassing(settled.problem)) setResult(settled)
    },
    [key],
  )
  const run = useCallback(() => void read(false), [read])
  useEffect(() => {
    run()
    return () => void last.current++
  }, [run])
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
  const isOfKey = result.key === key
  return {
    value: isOfKey ? result.value : undefined,
    problem: isOfKey ? result.problem : undefined,
    isLoading: isLoading || !isOfKey,
    reload: run,
  }
}

async function resultOf<T>(key: string, load: () => Promise<T>): Promise<Result<T>> {
  try {
    return { key, value: await load() }
  } catch (error) {
    return { key, problem: problemOf(error) }
  }
}

/** Whether something stands between the page and the server for now. */
function isPassing(problem: Problem | undefined): boolean {
  return problem !== undefined && (problem.status === 0 || problem.status >= 500)
}
