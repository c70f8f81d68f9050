import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { tell } from '../controls/toast.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { t } from '../language/text.ts'
import { ACCESS_PAGE_SIZE, type Search } from '../server/access.ts'
import type { ListPage } from '../server/configs.ts'
import { anyOf } from '../live/meant.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { isAdministrator, isOpen } from '../state/user.ts'

/** The properties of a list of users, roles or permissions. */
export interface AccessListProps<T> {
  readonly title: string
  readonly searchLabel: string
  readonly newLabel: string
  /** The meaning of an empty list. */
  readonly emptyText: string
  readonly find: (search: Search) => Promise<ListPage<T>>
  readonly columns: readonly string[]
  readonly keyOf: (entry: T) => string
  readonly cells: (entry: T) => readonly ComponentChildren[]
  /** The content of a row besides the button that removes it. */
  readonly actions?: (entry: T) => ComponentChildren
  readonly removeTitle: (entry: T) => string
  readonly removeText: string
  readonly remove: (entry: T) => Promise<unknown>
  /** The dialog that makes a new entry. */
  readonly maker: (onClose: () => void, onDone: () => void) => ComponentChildren
}

/** A list of users, roles or permissions: found by name, made and removed. Nobody manages them while nobody signs in. */
export function AccessList<T>(props: AccessListProps<T>) {
  if (!isOpen()) return <ManagedList {...props} />
  return (
    <>
      <div class="head">
        <h1 class="title">{props.title}</h1>
      </div>
      <Notice kind="plain" icon="role">
        {t('accessNeedsSignIn')}
      </Notice>
    </>
  )
}

function ManagedList<T>(props: AccessListProps<T>) {
  const { title, searchLabel, newLabel, find, maker } = props
  const { params } = useStore(place)
  const { valueOf, type } = useTypedParams()
  const search = { text: params['text'] ?? '', pageNo: Number(params['page'] ?? '1') || 1 }
  const [isMaking, setMaking] = useState(false)
  const found = useLoaded(JSON.stringify(search), () => find(search), anyOf('user', 'role', 'permission'))
  const shown = useShown(title, found, search)
  return (
    <>
      <div class="head">
        <h1 class="title">{title}</h1>
        {isAdministrator() && (
          <button type="button" class="button primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            {newLabel}
          </button>
        )}
      </div>
      <div class="filters" role="search">
        <TextField
          label={searchLabel}
          type="search"
          isWide
          value={valueOf('text')}
          onInput={(text) => type('text', text)}
        />
      </div>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown && (
        <>
          <div class="card table-card">
            {shown.value.pageItems.length === 0 ? (
              <Nothing text={shown.asked.text === '' ? props.emptyText : t('nothingFound')} />
            ) : (
              <AccessTable {...props} entries={shown.value.pageItems} onChanged={found.reload} />
            )}
          </div>
          <Pager
            pageNo={shown.asked.pageNo}
            pageSize={ACCESS_PAGE_SIZE}
            total={shown.value.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
      {isMaking && maker(() => setMaking(false), found.reload)}
    </>
  )
}

function AccessTable<T>(
  props: AccessListProps<T> & { readonly entries: readonly T[]; readonly onChanged: () => void },
) {
  const { entries, columns, keyOf, cells, actions, removeTitle, removeText, remove, onChanged } = props
  const [removing, setRemoving] = useState<T | undefined>()
  return (
    <>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
            <th class="actions">
              <span class="hidden">{t('actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={keyOf(entry)}>
              {cells(entry).map((cell, index) => (
                <td key={columns[index]} dir="auto">
                  {cell}
                </td>
              ))}
              <td class="actions">
                <div class="buttons">
                  {actions?.(entry)}
                  <button
                    type="button"
                    class="button small icon danger-quiet"
                    aria-label={removeTitle(entry)}
                    onClick={() => setRemoving(entry)}
                  >
                    <Icon name="trash" />
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {removing !== undefined && (
        <Confirm
          title={removeTitle(removing)}
          done={t('delete')}
          onClose={() => setRemoving(undefined)}
          onDo={async () => {
            await remove(removing)
            tell(t('deleted'))
            setRemoving(undefined)
            onChanged()
          }}
        >
          <p>{removeText}</p>
        </Confirm>
      )}
    </>
  )
}
