import type { JSX } from 'preact'
import type { User, UserChange } from '../../api/api.ts'
import { type Faults, type Fields, type Read, wholeNumber } from '../../form/form.ts'
import { Field } from '../../ui/field.tsx'
import { useWords } from '../../words/words.ts'

const ROLES = ['player', 'admin'] as const
const LEAST_QQ = 10_000
const MOST_QQ = 999_999_999_999

const PROFILE_PATHS = ['name', 'role', 'qq'] as const

export const NEW_PROFILE: Fields = { name: '', role: 'player', qq: '' }

export function profileFields({ name, role, qq }: Pick<User, 'name' | 'role' | 'qq'>): Fields {
  return { name, role, qq: qq === null ? '' : String(qq) }
}

/** @param isNameOptional leaves out an empty name, so that the id becomes the name */
export function readProfile(fields: Fields, isNameOptional = false): Read<UserChange> {
  const { name = '', role, qq = '' } = fields
  const isNameGood = /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name) || (isNameOptional && name === '')
  const faults: Faults = { ...(isNameGood ? {} : { name: 'name' }), ...(hasGoodQq(qq) ? {} : { qq: 'qq' }) }
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const body: UserChange = {
    ...(name === '' ? {} : { name }),
    role: role === 'admin' ? 'admin' : 'player',
    qq: wholeNumber(qq) ?? null,
  }
  return { body, faults }
}

function hasGoodQq(text: string): boolean {
  const value = wholeNumber(text)
  return text === '' || (value !== undefined && value >= LEAST_QQ && value <= MOST_QQ)
}

interface ProfileProps {
  readonly fields: Fields
  readonly faults: Faults
  /** Paths that differ from the stored document. */
  readonly changed?: readonly string[]
  onChange(path: (typeof PROFILE_PATHS)[number], text: string): void
}

export function ProfileFields({ fields, faults, changed = [], onChange }: ProfileProps): JSX.Element {
  const words = useWords()
  const { users, settings } = words
  const faultAt = (path: string): string | undefined => {
    const fault = faults[path]
    return fault === undefined ? undefined : settings.faults[fault]
  }
  const classOf = (path: string): string => (changed.includes(path) ? 'changed' : '')
  return (
    <>
      <Field label={users.name} fault={faultAt('name')}>
        {(props) => (
          <input
            {...props}
            class={classOf('name')}
            dir="auto"
            autocomplete="off"
            maxLength={64}
            value={fields.name}
            onInput={(event) => onChange('name', event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={users.role}>
        {(props) => (
          <select
            {...props}
            class={classOf('role')}
            value={fields.role}
            onChange={(event) => onChange('role', event.currentTarget.value)}
          >
            {ROLES.map((each) => (
              <option key={each} value={each}>
                {users.roles[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={users.qq} about={users.qqAbout} fault={faultAt('qq')}>
        {(props) => (
          <input
            {...props}
            class={classOf('qq')}
            inputMode="numeric"
            autocomplete="off"
            value={fields.qq}
            onInput={(event) => onChange('qq', event.currentTarget.value)}
          />
        )}
      </Field>
    </>
  )
}
