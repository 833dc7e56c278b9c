import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CATEGORIES, type Category, type QuotaStatus } from '../../limits.ts'
import { LimitBar } from '../../ui/limit-bar.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Done } from '../../ui/notice.tsx'
import type { Resource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ResetDialog } from './reset-dialog.tsx'

export function Usage({ id, status }: { id: string; status: Resource<QuotaStatus> }): JSX.Element {
  const words = useWords()
  const [isResetting, setResetting] = useState(false)
  const [isReset, setReset] = useState(false)
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">{words.users.usage}</h2>
      <p class="quiet small">{words.users.usageAbout}</p>
      <Loaded resource={status} lines={12}>
        {({ windows }) =>
          CATEGORIES.map((category) => <Bars key={category} category={category} windows={windows[category]} />)
        }
      </Loaded>
      <p class="buttons">
        <button type="button" class="danger" onClick={() => setResetting(true)}>
          {words.users.reset}
        </button>
        <Done>{isReset && words.users.resetDone}</Done>
      </p>
      {isResetting && (
        <ResetDialog
          id={id}
          onReset={(now) => {
            status.replace(now)
            setReset(true)
          }}
          onClose={() => setResetting(false)}
        />
      )}
    </section>
  )
}

type Windows = QuotaStatus['windows'][Category]

function Bars({ category, windows }: { category: Category; windows: Windows }): JSX.Element {
  const names = useNames()
  const formats = useFormats()
  return (
    <div class="bars">
      <h3>{names.category(category)}</h3>
      {windows.map((each) => (
        <LimitBar
          key={`${each.scope} ${each.window}`}
          of={each}
          name={names.cell(each.scope, category, each.window)}
          label={`${names.layer(each.scope)} · ${names.window(each.window)}`}
          timeText={formats.dateTime}
        />
      ))}
    </div>
  )
}
