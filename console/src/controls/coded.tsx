import { Fragment } from 'preact'

/** A text with words between backticks, which people type: they are shown as code. */
export function Coded({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) =>
      index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
    )
}
