// @ts-check

/**
 * Paragraphs of the services' documents in Chinese, by what they are in English: of operations, parameters, tags and
 * credentials. A test knows of each that is missing.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const PARAGRAPHS_ZH = {
  'Free.': '免费。',

  // Services, and what they are called with.
  '**Credential.** `Authorization: Bearer` with a JWT or a gateway token, which begins with `gw_`. Credentials of the other services do not work here.':
    '**凭据。** `Authorization: Bearer` 加 JWT，或加以 `gw_` 开头的网关令牌。其他服务的凭据无效。',
  '**Quota.** An operation costs tokens of its category, `read` or `write`; a request has one price for a list of any length. Too few tokens left: 429 with `Retry-After`. Wait as long as it says; do not poll. A request that fails costs nothing. `GET /me/quota` is free.':
    '**配额。** 每个操作消耗其类别（`read` 读取或 `write` 写入）的额度。一次请求一个价格，与列表长度无关。额度不足时返回 429 和 `Retry-After`：请等够这段时间，不要轮询。失败的请求不消耗额度。`GET /me/quota` 免费。',
  '**Order of checks.** Credential (401, 403), path and method (404, 405), body (413, 415, 400), content (422), quota (429), then the work. Unknown members of a body are ignored, unless its schema says otherwise.':
    '**检查顺序。** 凭据（401、403），路径和方法（404、405），请求体（413、415、400），内容（422），配额（429），然后执行。请求体中未知的成员会忽略，除非数据结构另有规定。',
  "Bots bring players' scores here, for any player by `qq`. An account of the gateway that is linked to that `qq` has them at once; for others they are kept until an account is linked.":
    '机器人把任意玩家的成绩送到这里，以 `qq` 区分玩家。网关账号关联了该 `qq`，就立即看到成绩；否则成绩会保留，直到有账号关联。',
  '**Credential.** `Bot-Token`. Credentials of the other services do not work here.':
    '**凭据。** `Bot-Token`。其他服务的凭据无效。',
  '**Chunks.** A full snapshot comes in chunks under one `snapshot_id`, the last of them with `snapshot_final`. Send a chunk again, identical, after 429, 500, 502 to 504 or no answer: it is stored once.':
    '**分块。** 完整快照用同一个 `snapshot_id` 分块发送，最后一块带 `snapshot_final`。遇到 429、500、502 至 504 或没有响应，请原样重发该块，它只保存一次。',
  'The table of charts, for browsing: titles, difficulties and note counts.': '可以浏览的谱面表：曲名、难度和物量。',
  '**Credential.** `X-API-Key` with a key of this service, which begins with `mk_`. Credentials of the other services do not work here.':
    '**凭据。** `X-API-Key` 加本服务的密钥，以 `mk_` 开头。其他服务的凭据无效。',
  'A JWT, or a gateway token: it begins with `gw_`.': 'JWT，或以 `gw_` 开头的网关令牌。',
  'A token that administrators issue.': '管理员签发的令牌。',
  'A key of this service: it begins with `mk_`.': '本服务的密钥，以 `mk_` 开头。',

  // What operations are about.
  'A score belongs to a chart, `musicId` and `level`. Write, delete and read scores.':
    '成绩属于谱面（`musicId` 和 `level`）。写入、删除和读取成绩。',
  "A player's own data, items and gates.": '玩家自己的数据、物品和门。',
  'Buy, list and clear tickets. The balance is in credits.': '购买、列出和清空功能票。余额的单位是点数。',
  'Import scores from other score services.': '从其他查分服务导入成绩。',
  'Used and remaining tokens of the caller. Free.': '调用者已用和剩余的额度。免费。',
  'Whether the service is up. Free and public.': '服务是否可用。免费，对所有人开放。',
  'This document.': '本文档。',
  "For users with the administrator's role.": '供管理员使用。',
  "Bots that report players' scores.": '发送玩家成绩的机器人。',
  'The table of charts.': '谱面表。',

  // Parameters.
  '`1`: respond when it is done.': '`1`：完成后才响应。',
  'Identifies this attempt. A repeat with the same key gets the same response, and nothing is done twice.':
    '标识本次请求。用同一个键重试会得到同一个响应，不会重复执行。',
  'The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it.':
    '所读文档的 `ETag`，`*` 表示任意。只写版本号（如 `"7"`）表示该版本的任意文档。',
  "The user's id.": '用户 ID。',
  "A user's id.": '用户 ID。',
  "The layer, one that isn't shared. Default: `personal`.": '每个用户各有一份的某一层。默认 `personal`。',
  'As in the list.': '与列表中一致。',
  'Part of an id or a name, in any case.': 'ID 或名称的一部分，不区分大小写。',
  '`nextCursor` of the previous page.': '上一页的 `nextCursor`。',
  'The largest number of entries on the page.': '每页最多多少条。',
  '`*`: creates a new document, and never changes an existing one.': '`*`：只创建新文档，不更改已有的。',
  "The token's id, not the token itself.": '令牌的 ID，不是令牌本身。',
  "The credential's id, not the credential itself.": '凭据的 ID，不是凭据本身。',
  'Only entries of this kind.': '只要此类条目。',
  'how far back': '回溯多久',
  'how many days back': '回溯的天数',
  'length of a bucket': '每格的长度',
  'Only refusals of this user.': '只列出此用户的拒绝。',
  'The largest number of requests on the page.': '每页最多多少个请求。',
  'How many days, including today.': '天数，包括今天。',
  'How many days in Beijing, including today.': '天数（北京时间），包括今天。',
  'from 1 on': '从 1 开始',
  'charts a page': '每页谱面数',
  '`songId:kind:difficulty`, for example `101:standard:4`; difficulty 1 to 6':
    '`songId:kind:difficulty`，例如 `101:standard:4`；难度 1 至 6',

  // Operations of players.
  'For clients, in the form of other responses.': '供客户端使用，格式与其他响应相同。',
  'For process supervisors. It contacts no store.': '供进程管理器使用，不访问存储。',
  'For load balancers: 503 while a store is unavailable, and while the service is stopping.':
    '供负载均衡使用：存储没有响应或服务正在停止时返回 503。',
  'Writes 1 to 20 scores over existing ones, all or none. The list must not contain a chart twice. With `sessionId`, they are kept for an upload in parts. Their tokens are held, and only charged by `/v1/upsert/check`.':
    '写入 1 至 20 条成绩，覆盖已有的，要么全部写入，要么都不写。同一谱面不能出现两次。带 `sessionId` 时，成绩留待分批上传：先预留额度，由 `/v1/upsert/check` 扣除。',
  'Deletes the scores of 1 to 20 charts. For one chart, you can omit the list.':
    '删除 1 至 20 张谱面的成绩。只有一张时可以不用列表。',
  'All of your scores, with facts of their charts. Writes nothing.': '调用者的全部成绩，附谱面信息。只读。',
  'Deletes all of your scores permanently.': '永久删除调用者的全部成绩。',
  'Send up to 2,000 scores to `/v1/music/upsert` with its `sessionId`, then call `/v1/upsert/check`. A session expires after 10 minutes without a call. Nothing is then stored or charged. A user may have 5 open sessions.':
    '带上 `sessionId`，把成绩（最多 2,000 条）发送到 `/v1/music/upsert`，然后调用 `/v1/upsert/check`。10 分钟没有调用，会话就过期，不消耗额度，也不保存。每个用户最多同时打开 5 个会话。',
  'If all scores have arrived, they are stored, all or none, and charged once: the price of an upsert per 20 scores or part of 20. A repeat gets the same response. An expired session gets 409 `session_expired` immediately, with or without `sync=1`.':
    '成绩到齐后一次保存，要么全部，要么都不存。额度只扣一次：每 20 条成绩按一次写入计价，不足 20 条也算一次。重试会得到同一个响应。会话已结束时立即返回 409 `session_expired`，无论是否带 `sync=1`。',
  'Name, rating and number of plays.': '名称、Rating 和游玩次数。',
  'Name, rating, and when you last played.': '名称、Rating 和最近一次游玩时间。',
  'Regions are unknown, so the list is empty.': '网关不知道地区，列表为空。',
  'Kinds 2, 3 and 5 cost 1, 2 and 3 credits, and each has its own price in tokens. A ticket is valid for 90 days.':
    '种类 2、3、5 分别消耗余额 1、2、3 点，额度价格各不相同。功能票有效期 90 天。',
  'Valid tickets, with the number of each kind.': '仍然有效的功能票及各自数量。',
  "Removes all tickets. Credits aren't refunded.": '移除全部功能票，不退还余额。',
  'Always empty, because purchases complete immediately.': '总是为空：收到响应时，购买已经完成。',
  'Kinds: 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key.':
    '种类：1 姓名框，2 称号，3 头像，4 礼物，5 至 8 乐曲解锁，9 角色，10 搭档，11 背景框，12 功能票，15 钥匙。',
  "The player's progress at each gate.": '玩家在每个门的进度。',
  "Reads the player's scores from LXNS and keeps the best of each field. A request is also charged when the source refuses the player's credential.":
    '从落雪读取玩家的成绩，各项保留最好的。落雪拒绝玩家的凭据时，额度照扣。',
  "Reads the player's scores from Diving-Fish and keeps the best of each field. A request is also charged when the source refuses the player's credential.":
    '从水鱼读取玩家的成绩，各项保留最好的。水鱼拒绝玩家的凭据时，额度照扣。',
  'Used and remaining tokens of the caller, window by window.': '调用者在每个窗口已用和剩余的额度。',
  'The same as `/me/quota`, for older clients.': '与 `/me/quota` 相同，供旧客户端使用。',
  'Metered requests of the last 30 days, at most 1,000: time, operation, outcome, charge, and the limit that refused. Follow `nextCursor` until it is `null`.':
    '最近 30 天计量的请求，最多 1,000 个：时间、操作、结果、扣除的额度，以及哪个限额拒绝了它。沿 `nextCursor` 逐页读取，直到为 `null`。',
  'Metered requests, tokens and failures per day in Beijing. Days without requests have zeros.':
    '每天（北京时间）计量的请求数、额度和失败数。没有请求的日子为零。',
  'One point per day in Beijing with a sync. The list may be empty.':
    '每个有同步的日子（北京时间）一个点。没有同步则列表为空。',

  // Operations of administrators.
  'Mode, base values, site layer and prices. Send the `ETag` as `If-Match` of a change.':
    '模式、基准值、全站层和价格。更改时把 `ETag` 放入 `If-Match`。',
  'Send the whole document, without `version`. An invalid one is rejected with all faults. Changes apply immediately.':
    '提交整个文档，不含 `version`。有错误时整体拒绝，并指出每个错误。立即生效。',
  'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`: named members are changed, `null` removes. The result is validated as a whole document.':
    'JSON 合并补丁（RFC 7396），类型为 `application/merge-patch+json` 或 `application/json`：更改列出的成员，`null` 表示移除。结果按完整文档校验。',
  'Six limits, `null` where the user follows the default, and whether the site layer is bypassed.':
    '六个限额，跟随默认时为 `null`；以及是否不受全站层限制。',
  'Absent members get their default. `If-Match` is optional.': '没有列出的成员恢复默认。`If-Match` 可省略。',
  'The defaults apply to the user again.': '用户的全部设置恢复默认。',
  "The user's `/me/quota`.": '用户在 `/me/quota` 看到的内容。',
  "Closes the user's windows in one category or all. Those of the site belong to all users.":
    '关闭用户的窗口：一个或全部类别。全站的窗口由所有人共用。',
  'Tokens and slots of requests in progress, by expiry.': '进行中的请求占用的额度和名额，最早结束的在前。',
  "Refunds its tokens and frees its slot immediately. Doesn't stop the work.":
    '立即退还额度，释放名额。请求本身不会停止。',
  "Pass a page's `nextCursor` as the `cursor` of the next page.":
    '逐页读取：上一页的 `nextCursor` 即下一页的 `cursor`。',
  'Permanently deletes tokens, scores, tickets, credits, usage records, overrides and open holds. Charges to shared limits and the audit trail stay. A valid JWT creates a new user with the id, so disable a user to keep someone out. `If-Match` is optional.':
    '永久删除令牌、成绩、功能票、余额、用量记录、单独限额和未结算的预留。已计入共享限额的用量不变，审计记录保留。有效的 JWT 会用此 ID 创建新用户。要禁止使用，请停用用户。`If-Match` 可省略。',
  'The `ETag` covers what administrators set: `name`, `role`, `disabled` and `qq`. Send it as `If-Match` of a change.':
    '`ETag` 对应管理员设定的 `name`、`role`、`disabled` 和 `qq`。更改时放入 `If-Match`。',
  'Absent members stay unchanged. 201: the user is new. `If-Match` is optional. `If-None-Match: *` only creates users.':
    '没有列出的成员保持不变。201 表示新建了用户。`If-Match` 可省略；`If-None-Match: *` 只创建，不更改。',
  'Send `add`, which may be negative, or `set`. With `from`, it is only set if the balance is still `from`.':
    '`add`（可以为负）或 `set`。带 `from` 时，余额仍为该值才设定。',
  'Ids and labels. A token itself is only shown when it is issued.': 'ID 和标签。令牌本身只在签发时显示一次。',
  'Creates the user if necessary.': '用户不存在时自动创建。',
  'It stops working immediately.': '立即失效。',
  'Ids and names. A credential itself is only shown when it is issued.': 'ID 和名称。凭据本身只在签发时显示一次。',
  "Only its hash is stored, so a lost one can't be recovered.": '只保存哈希值，丢失后无法找回。',
  'Follow `nextCursor` until it is `null`. While entries are written, no page repeats or skips one.':
    '沿 `nextCursor` 逐页读取，直到为 `null`。其间写入新条目，各页也不会重复或遗漏。',
  'It follows the server errors of the last 30 minutes, between 0.75 and 1.5.':
    '随最近 30 分钟的服务端内部错误变动，介于 0.75 与 1.5 之间。',
  'Buckets are aligned to the half hour (UTC). Those without calls are included.':
    '每格按半小时（UTC）对齐。没有调用的格也列出，值为零。',
  'Requests and their outcomes, refusals, what remains of shared limits, and the users who spend and are refused the most. Each member says whether it covers one process or all.':
    '请求及其结果、拒绝、共享限额的余量，以及用量和拒绝最多的用户。每一项都注明是单个进程还是所有进程的。',
  'Server-sent events `overview` with the JSON of `/admin/overview`, immediately and then every second. The stream ends after a minute, when the credential is revoked, and when the service stops. Reconnect with the credential.':
    '服务器推送事件 `overview`，数据即 `/admin/overview` 的 JSON：立即一次，之后每秒一次。一分钟后、凭据吊销时或服务停止时，流结束。请带凭据重新连接。',
  'All processes, in steps of 10 minutes or an hour. Steps without requests are included.':
    '所有进程合计，每格 10 分钟或一小时。没有请求的格也列出。',
  'Refusals of the last 24 hours in all processes, by user, operation and limit, the newest first. Counts at most the newest 1,000.':
    '最近 24 小时所有进程的拒绝，按用户、操作和限额分组，最新的在前。最多统计最近 1,000 次。',
  'In the text format of Prometheus.': 'Prometheus 文本格式。',
  'OpenAPI 3.1, for reference pages and client generators.': 'OpenAPI 3.1，供参考页面和客户端生成工具使用。',
}
