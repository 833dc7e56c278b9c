import type { JSX } from 'preact'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { RefusalList, useRefusalWords } from './refusal-list.tsx'

export function RefusalsPage(): JSX.Element {
  const words = useWords()
  const refusals = useRefusalWords()
  const api = useApi()
  const latest = useResource(() => api.refusals(), [api])
  return (
    <>
      <h1>{refusals.title}</h1>
      <p class="quiet">{refusals.about}</p>
      <p class="buttons">
        <button type="button" onClick={latest.reload}>
          {words.reload}
        </button>
      </p>
      <Loaded resource={latest} lines={12}>
        {(list) => <RefusalList of={list} empty={refusals.nobody} hasUsers />}
      </Loaded>
    </>
  )
}
