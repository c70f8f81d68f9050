import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../language/text.ts'
import { problemOf, type RequestProblem } from '../server/problem.ts'
import { ProblemNotice } from './notice.tsx'

/** A component that is loaded when it is first drawn: the first view of the page need not wait for it. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  return function Later(props: Props) {
    const [, setLoaded] = useState(false)
    const [problem, setProblem] = useState<RequestProblem | undefined>()
    useEffect(() => {
      if (Loaded !== undefined) return
      load().then(
        (component) => {
          Loaded = component
          setLoaded(true)
        },
        (error: unknown) => setProblem(problemOf(error)),
      )
    }, [])
    if (Loaded !== undefined) return <Loaded {...props} />
    return problem === undefined ? <p class="loading">{t('loading')}</p> : <ProblemNotice problem={problem} />
  }
}
