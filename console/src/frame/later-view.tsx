import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ProblemNotice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { problemOf, type RequestProblem } from '../server/problem.ts'
import { focusOn } from './focus.ts'

type Views = typeof import('./administration.ts')

let loaded: Views | undefined

/** Loads the views of administrators. Rejects as an import does. */
export async function loadAdministration(): Promise<Views> {
  return (loaded ??= await import('./administration.ts'))
}

/** A view of administrators, which is loaded when it is needed, if it is not there before. */
export function laterView(name: keyof Views): ComponentType {
  return function LaterView() {
    const [views, setViews] = useState(loaded)
    const [problem, setProblem] = useState<RequestProblem | undefined>()
    const load = (): void => {
      setProblem(undefined)
      loadAdministration().then(setViews, (error: unknown) => setProblem(problemOf(error)))
    }
    useEffect(() => {
      if (views === undefined) return load()
      // The focus is on the whole view while there is no heading yet.
      const main = document.querySelector<HTMLElement>('main')
      if (document.activeElement === main) focusOn(main)
    }, [views])
    if (views === undefined)
      return problem === undefined ? (
        <p class="loading">{t('loading')}</p>
      ) : (
        <ProblemNotice problem={problem} onRetry={load} />
      )
    const Content = views[name]
    return <Content />
  }
}
