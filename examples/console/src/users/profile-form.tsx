import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User } from '../api/api.ts'
import { useApi } from '../session.ts'
import { Done, ErrorNotice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { useWords } from '../words/words.ts'
import { changeOf, hasGoodName, hasGoodQq, ProfileFields, profileOf } from './profile-fields.tsx'

export function ProfileForm({ user, onChanged }: { user: User; onChanged(user: User): void }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const stored = profileOf(user)
  const [profile, setProfile] = useState(stored)
  const [isSaved, setSaved] = useState(false)
  const { isBusy, error, run } = useAction()
  const change = changeOf(stored, profile)
  const isGood = hasGoodName(profile) && hasGoodQq(profile) && Object.keys(change).length > 0

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isDone = await run(async () => {
      const now = await api.putUser(user.id, change)
      setProfile(profileOf(now))
      onChanged(now)
    })
    setSaved(isDone)
  }

  return (
    <section aria-labelledby="profile">
      <h2 id="profile">{words.users.profile}</h2>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <ProfileFields
          profile={profile}
          onChange={(next) => {
            setProfile(next)
            setSaved(false)
          }}
        />
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || !isGood}>
            {words.save}
          </button>
          <Done>{isSaved && words.saved}</Done>
        </p>
      </form>
    </section>
  )
}
