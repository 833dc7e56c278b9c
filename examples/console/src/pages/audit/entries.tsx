import type { JSX } from 'preact'
import type { AuditEntry } from '../../api/api.ts'
import { type Change, ChangeList, changesOf, type FieldTexts } from '../../form/changes.tsx'
import type { Fields } from '../../form/form.ts'
import { DEFAULTS } from '../../limits.ts'
import { goTo, hrefOf } from '../../route.ts'
import { useDrafts } from '../../session.ts'
import { plain, Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useFormats, useWords } from '../../words/words.ts'
import { settingsFields } from '../settings/fields.ts'
import { useSettingTexts } from '../settings/setting-texts.ts'
import { NO_OVERRIDES } from '../users/user-quota-fields.ts'
import { useOverrideTexts } from '../users/user-quota-form.tsx'
import { fieldsOf } from './changes.ts'

/** The gateway's name for changes made on the command line. It has a space, so no user has it. */
const COMMAND_LINE = 'command line'
/** Actions whose subject is a user. */
const OF_USERS = /^(?:user|user-quota|quota|hold|balance|token)\./

export function Entries({ items }: { items: readonly AuditEntry[] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const told = useTold()
  return (
    <ul class="entries audit" aria-label={words.audit.list}>
      {items.map((entry) => {
        const { action, seq, at, by } = entry
        const { changes, undo } = told(entry)
        return (
          <li key={seq}>
            <p class="entry-title">
              {words.audit.actions[action]} <Subject entry={entry} />
            </p>
            <ChangeList changes={changes} />
            <p class="quiet small facts">
              <span>{by === null ? '–' : <Text>{by === COMMAND_LINE ? words.audit.commandLine : by}</Text>}</span>
              <When at={at} />
              <span class="seq">#{formats.number(seq)}</span>
              {undo !== undefined && changes.length > 0 && (
                <button type="button" aria-label={words.audit.undoOf(formats.number(seq))} onClick={undo}>
                  {words.audit.undo}
                </button>
              )}
            </p>
          </li>
        )
      })}
    </ul>
  )
}

function Subject({ entry: { action, subject } }: { entry: AuditEntry }): JSX.Element | null {
  if (subject === null) return null
  if (!OF_USERS.test(action)) return <code>{subject}</code>
  return <a href={hrefOf('users', subject)}>{subject}</a>
}

/** A form that can undo entries. */
interface Form {
  readonly href: string
  readonly name: string
  readonly texts: FieldTexts
  /** What applies where nothing is stored. */
  readonly initial: Fields
}

interface Told {
  readonly changes: readonly Change[]
  /** Opens the form with the former values, which are saved there. */
  undo?(): void
}

/** Returns what an entry changed, in words. */
function useTold(): (entry: AuditEntry) => Told {
  const words = useWords()
  const drafts = useDrafts()
  const settings = useSettingTexts()
  const overrides = useOverrideTexts()
  const formOf = ({ action, subject }: AuditEntry): Form | undefined => {
    if (action === 'settings.change')
      return { href: hrefOf('settings'), name: 'limits', texts: settings, initial: settingsFields(DEFAULTS) }
    if (action !== 'user-quota.change' || subject === null) return undefined
    return { href: hrefOf('users', subject), name: 'quota', texts: overrides, initial: NO_OVERRIDES }
  }
  const plainTexts: FieldTexts = {
    nameOf: (path) => path,
    textOf: (_path, text) => (text === '' ? words.audit.nothing : plain(text)),
  }
  return (entry) => {
    const form = formOf(entry)
    if (form === undefined) {
      const changes = changesOf(fieldsOf(entry.before), fieldsOf(entry.after), plainTexts)
      return { changes: entry.before === null ? changes.map((each) => ({ ...each, before: undefined })) : changes }
    }
    const before: Fields = { ...form.initial, ...fieldsOf(entry.before) }
    const after: Fields = { ...form.initial, ...fieldsOf(entry.after) }
    const changes = changesOf(before, after, form.texts)
    const former = Object.fromEntries(changes.map(({ path }) => [path, before[path] ?? '']))
    const undo = (): void => {
      drafts.propose(form.href, form.name, former)
      goTo(form.href)
    }
    return { changes, undo }
  }
}
