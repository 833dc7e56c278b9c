import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Versioned, Webhook } from '../api/api.ts'
import { IssuedCredential } from '../credentials/issued-credential.tsx'
import { useApi, usePolicy } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Done, ErrorNotice } from '../ui/notice.tsx'
import { Switch } from '../ui/switch.tsx'
import { useAction } from '../ui/use-action.ts'
import { useNames } from '../words/names.ts'
import { useFormats, useWords } from '../words/words.ts'

interface WebhookCardProps {
  readonly of: Versioned<Webhook>
  onChanged(): void
  onTested(): void
}

/** Where alerts are sent. A secret is shown when it is made, and never again. */
export function WebhookCard({ of: { etag, document }, onChanged, onTested }: WebhookCardProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const names = useNames()
  const api = useApi()
  const { layers } = usePolicy()
  const action = useAction()
  const [url, setUrl] = useState(document.url ?? '')
  const [told, setTold] = useState<readonly string[]>(document.layers)
  const [secret, setSecret] = useState<string>()
  const [done, setDone] = useState('')
  const [question, setQuestion] = useState<'rotate' | 'remove'>()
  const fault = action.error?.details.find(({ path }) => path === 'url')

  const act = async (what: string, work: () => Promise<void>): Promise<void> => {
    setDone('')
    if (await action.run(work)) setDone(what)
    setQuestion(undefined)
  }
  const save = (): Promise<void> =>
    act(words.saved, async () => {
      const made = await api.putWebhook({ url: url.trim(), layers: [...told] }, etag)
      if (made === null) onChanged()
      else setSecret(made)
    })
  const rotate = (): Promise<void> => act('', async () => setSecret(await api.rotateWebhook()))
  const remove = (): Promise<void> =>
    act(words.alerts.removed, async () => {
      await api.removeWebhook(etag)
      onChanged()
    })
  const test = (): Promise<void> =>
    act(words.alerts.tested, async () => {
      await api.testWebhook()
      onTested()
    })

  return (
    <section aria-labelledby="webhook">
      <h2 id="webhook">{words.alerts.where}</h2>
      {secret !== undefined && (
        <>
          <h3>{words.alerts.secretOnce}</h3>
          <IssuedCredential
            token={secret}
            onDone={() => {
              setSecret(undefined)
              onChanged()
            }}
          />
        </>
      )}
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Field label={words.alerts.url} about={words.alerts.urlAbout} fault={fault?.msg}>
          {(props) => (
            <input
              {...props}
              type="url"
              spellcheck={false}
              maxLength={2_048}
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          )}
        </Field>
        <fieldset class="shadow">
          <legend>{words.alerts.layers}</legend>
          {layers.map(({ name }) => (
            <Switch
              key={name}
              label={names.layer(name)}
              isOn={told.includes(name)}
              onChange={(isOn) => setTold(isOn ? [...told, name] : told.filter((each) => each !== name))}
            />
          ))}
        </fieldset>
        {document.rotatedUntil !== null && (
          <p class="quiet small">{words.alerts.rotated(formats.dateTime(document.rotatedUntil))}</p>
        )}
        <ErrorNotice error={fault === undefined ? action.error : undefined} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={action.isBusy || url.trim() === ''}>
            {words.save}
          </button>
          {document.url !== null && (
            <>
              <button type="button" disabled={action.isBusy} onClick={() => void test()}>
                {words.alerts.test}
              </button>
              <button type="button" onClick={() => setQuestion('rotate')}>
                {words.alerts.rotate}
              </button>
              <button type="button" class="danger" onClick={() => setQuestion('remove')}>
                {words.alerts.remove}
              </button>
            </>
          )}
        </p>
        <Done>{done}</Done>
      </form>
      {question !== undefined && (
        <Question
          of={question}
          isBusy={action.isBusy}
          onYes={question === 'rotate' ? rotate : remove}
          onNo={() => setQuestion(undefined)}
        />
      )}
    </section>
  )
}

interface QuestionProps {
  readonly of: 'rotate' | 'remove'
  readonly isBusy: boolean
  onYes(): Promise<void>
  onNo(): void
}

function Question({ of, isBusy, onYes, onNo }: QuestionProps): JSX.Element {
  const words = useWords()
  const { alerts } = words
  return (
    <Dialog title={of === 'rotate' ? alerts.rotateTitle : alerts.removeTitle} onClose={onNo}>
      <p>{of === 'rotate' ? alerts.rotateAbout : alerts.removeAbout}</p>
      <p class="buttons">
        <button
          type="button"
          class={of === 'rotate' ? 'primary' : 'danger'}
          disabled={isBusy}
          onClick={() => void onYes()}
        >
          {alerts[of]}
        </button>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}
