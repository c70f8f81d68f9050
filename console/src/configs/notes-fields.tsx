import { LongTextField, SelectField, TextField } from '../controls/field.tsx'
import { t } from '../language/text.ts'
import { CONFIG_TYPES, type ConfigNotes } from '../server/configs.ts'

/** The fields of an item besides its names and its content. */
export function NotesFields(props: {
  readonly notes: ConfigNotes
  readonly onChange: (notes: ConfigNotes) => void
}) {
  const { notes, onChange } = props
  const set = (changed: Partial<ConfigNotes>): void => onChange({ ...notes, ...changed })
  const types = CONFIG_TYPES.map((type) => [type, type.toUpperCase()] as const)
  const isKnown = types.some(([type]) => type === notes.type)
  return (
    <>
      <SelectField
        label={t('type')}
        value={notes.type}
        choices={isKnown ? types : [[notes.type, notes.type.toUpperCase()], ...types]}
        onChange={(type) => set({ type })}
      />
      <LongTextField
        label={t('description')}
        value={notes.desc}
        maxLength={128}
        onInput={(desc) => set({ desc })}
      />
      <TextField
        label={t('application')}
        value={notes.appName}
        maxLength={256}
        onInput={(appName) => set({ appName })}
      />
      <TextField
        label={t('tags')}
        hint={t('tagsHint')}
        value={notes.configTags}
        onInput={(configTags) => set({ configTags })}
      />
    </>
  )
}

/** Whether two items differ in their visible fields other than the content. */
export function sameNotes(a: ConfigNotes, b: ConfigNotes): boolean {
  return a.type === b.type && a.desc === b.desc && a.appName === b.appName && a.configTags === b.configTags
}

/** The notes of an item alone. */
export const notesOf = ({ type, desc, appName, configTags }: ConfigNotes): ConfigNotes => ({
  type,
  desc,
  appName,
  configTags,
})
