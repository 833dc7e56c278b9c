import type { JSX } from 'preact'
import type { User, UserChange } from '../api/api.ts'
import { wholeNumber } from '../settings/form.ts'
import { Field } from '../ui/field.tsx'
import { useWords } from '../words/words.ts'

const ROLES = ['player', 'admin'] as const
const LEAST_QQ = 10_000
const MOST_QQ = 999_999_999_999

/** What can be said of a user, as a form has it. */
export interface Profile {
  readonly name: string
  readonly role: User['role']
  readonly qq: string
}

export function profileOf({ name, role, qq }: Pick<User, 'name' | 'role' | 'qq'>): Profile {
  return { name, role, qq: qq === null ? '' : String(qq) }
}

export function hasGoodName({ name }: Profile): boolean {
  return /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name)
}

export function hasGoodQq({ qq }: Profile): boolean {
  const value = wholeNumber(qq)
  return qq === '' || (value !== undefined && value >= LEAST_QQ && value <= MOST_QQ)
}

/** What of a form differs from what it began with, so that nothing else is written. */
export function changeOf(before: Profile, { name, role, qq }: Profile): UserChange {
  return {
    ...(name === before.name ? {} : { name }),
    ...(role === before.role ? {} : { role }),
    ...(qq === before.qq ? {} : { qq: qq === '' ? null : Number(qq) }),
  }
}

interface ProfileProps {
  readonly profile: Profile
  /** Without a name the id is the name. */
  readonly isNameOptional?: boolean
  onChange(profile: Profile): void
}

export function ProfileFields({ profile, isNameOptional = false, onChange }: ProfileProps): JSX.Element {
  const { users } = useWords()
  const isNameGood = hasGoodName(profile) || (isNameOptional && profile.name === '')
  return (
    <>
      <Field label={users.name} fault={isNameGood ? undefined : users.nameFault}>
        {(props) => (
          <input
            {...props}
            autocomplete="off"
            maxLength={64}
            value={profile.name}
            onInput={(event) => onChange({ ...profile, name: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label={users.role}>
        {(props) => (
          <select
            {...props}
            value={profile.role}
            onChange={(event) => onChange({ ...profile, role: event.currentTarget.value as User['role'] })}
          >
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {users.roles[role]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={users.qq} about={users.qqAbout} fault={hasGoodQq(profile) ? undefined : users.qqFault}>
        {(props) => (
          <input
            {...props}
            inputMode="numeric"
            autocomplete="off"
            value={profile.qq}
            onInput={(event) => onChange({ ...profile, qq: event.currentTarget.value.trim() })}
          />
        )}
      </Field>
    </>
  )
}
