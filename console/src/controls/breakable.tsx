import { Fragment } from 'preact'

/** A name that may be broken after `.`, `:`, `/`, `-`, `_`, `@` and `=`, where it is too long for its line, rather than inside a word. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[.:/\-_@=])/).map((part, index) => (
    <Fragment key={`${index} ${part}`}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
