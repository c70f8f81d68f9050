import { t } from '../language/text.ts'
import { TextField, type TextFieldProps } from './field.tsx'

/** A field for a new name. Blanks at its ends are no part of the name: the form trims them, and the field says so. */
export function NewNameField(props: TextFieldProps) {
  const hasBlanks = props.value !== props.value.trim()
  return <TextField {...props} {...(hasBlanks ? { hint: t('blanksTrimmed') } : {})} />
}
