import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
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
 * replaces a newer one. A value of another key is not shown.
 */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [result, setResult] = useState<Result<T>>({ key: '' })
  const [isLoading, setLoading] = useState(true)
  const last = useRef(0)
  const latest = useRef(load)
  latest.current = load
  const run = useCallback(() => {
    const own = ++last.current
    setLoading(true)
    const settle = (settled: Result<T>): void => {
      if (own !== last.current) return
      setResult(settled)
      setLoading(false)
    }
    latest.current().then(
      (value) => settle({ key, value }),
      (error: unknown) => settle({ key, problem: problemOf(error) }),
    )
  }, [key])
  useEffect(() => {
    run()
    return () => void last.current++
  }, [run])
  const isOfKey = result.key === key
  return {
    value: isOfKey ? result.value : undefined,
    problem: isOfKey ? result.problem : undefined,
    isLoading: isLoading || !isOfKey,
    reload: run,
  }
}
