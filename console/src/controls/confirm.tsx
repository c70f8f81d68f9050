import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { problemOf, type RequestProblem } from '../server/problem.ts'
import { Dialog } from './dialog.tsx'
import { DialogButtons } from './field.tsx'
import { ProblemNotice } from './notice.tsx'
import { confirmWrite } from './protection.tsx'

/** Asks before something is done that cannot be undone easily, and shows why it was not done. */
export function Confirm(props: {
  readonly title: string
  readonly children: ComponentChildren
  readonly done: string
  readonly onClose: () => void
  /** Does it; the dialog stays open where this rejects. */
  readonly onDo: () => Promise<unknown>
  /** The namespace that is changed. */
  readonly namespaceId?: string | undefined
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly isWide?: boolean
}) {
  const { title, children, done, onClose, onDo, isDanger = true, isDisabled = false, isWide = false } = props
  const { isBusy, problem, run } = useDoing(onDo, props.namespaceId)
  return (
    <Dialog
      title={title}
      isWide={isWide}
      onClose={onClose}
      onSubmit={() => void (isDisabled || run())}
      footer={
        <DialogButtons
          done={done}
          onCancel={onClose}
          isBusy={isBusy}
          isDanger={isDanger}
          isDisabled={isDisabled}
        />
      }
    >
      {children}
      <ProblemNotice problem={problem} />
    </Dialog>
  )
}

/**
 * Something that a button does: once at a time, and with the reason of a failure. With a namespace it is a change there, and a protected
 * one asks for its name before.
 */
export function useDoing(
  action: () => Promise<unknown>,
  namespaceId?: string,
): {
  readonly isBusy: boolean
  readonly problem: RequestProblem | undefined
  readonly run: () => Promise<void>
} {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<RequestProblem | undefined>()
  const run = async (): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    try {
      if (namespaceId === undefined || (await confirmWrite(namespaceId))) await action()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}
