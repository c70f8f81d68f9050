import { useEffect, useState } from 'preact/hooks'
import { placeWith } from '../routing/link.ts'
import { go, place } from '../state/location.ts'
import { useStore } from '../state/store.ts'

const WAIT_MS = 250

/** Parameters of the address that people type. */
export interface TypedParams {
  /** The value of a field: the text being typed, else the parameter in the address. */
  readonly valueOf: (name: string) => string
  /** Notes what is typed; the address follows when the typing rests. */
  readonly type: (name: string, value: string) => void
  /** Changes the address at once, back on the first page. */
  readonly show: (changed: Readonly<Record<string, string>>) => void
}

/** The fields by which a list is narrowed: they are in the address, and typing waits a moment before it searches. */
export function useTypedParams(): TypedParams {
  const { params } = useStore(place)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const show = (changed: Readonly<Record<string, string>>): void => {
    // Text typed before is old by now.
    setTyped((now) => Object.fromEntries(Object.entries(now).filter(([name]) => !(name in changed))))
    go(placeWith({ after: '', ...changed, page: '' }), { replace: true })
  }
  useEffect(() => {
    if (Object.keys(typed).length === 0) return undefined
    const timer = setTimeout(() => {
      show(typed)
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return {
    valueOf: (name) => typed[name] ?? params[name] ?? '',
    // A value that the address has already must not be shown again later: it may have changed by then.
    type: (name, value) =>
      setTyped(({ [name]: _before, ...others }) =>
        value === (params[name] ?? '') ? others : { ...others, [name]: value },
      ),
    show,
  }
}
