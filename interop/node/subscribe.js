// A node-opcua client that subscribes to our server.
//
//   node node/subscribe.js --url opc.tcp://127.0.0.1:4840 --bench opc.tcp://127.0.0.1:4841 --pki DIR
//        --case None/None/Anonymous …  [--user operator --password operator]
//
// --url is a server with the demo plant, --bench one with the bench profile, to whose nodes
// ns=1;i=1000 and following this program writes one number after the other. Prints lines as client.js does.
//
// The connection is cut by a proxy in this program; node-opcua connects again by itself and asks for the
// messages that it missed.

import net from "node:net";
import path from "node:path";
import {
  AttributeIds, ClientMonitoredItem, ClientSubscription, DataChangeFilter, DataChangeTrigger, DataType, DeadbandType,
  MonitoringMode, OPCUAClient, TimestampsToReturn, UserTokenType, Variant,
  constructEventFilter,
} from "node-opcua-client";
import {
  CreateMonitoredItemsRequest, CreateSubscriptionRequest, DeleteSubscriptionsRequest, PublishRequest, RepublishRequest,
  SetTriggeringRequest, TransferSubscriptionsRequest,
} from "node-opcua-types";
import { emit, makePki, modeOf, parseArguments, policyOf } from "./peer.js";

const options = parseArguments(process.argv.slice(2), {
  url: "string", bench: "string", pki: "string", case: "list", user: "string", password: "string",
});
if (!options.url || !options.bench || !options.pki || !options.case) {
  process.stderr.write("subscribe.js needs --url, --bench, --pki and at least one --case\n");
  process.exit(2);
}
const applicationUri = "urn:localhost:actua-interop:client";
const pki = await makePki(path.join(options.pki, "own"), "client", applicationUri);

let passed = 0;
let failed = 0;

class CheckFailed extends Error {}

function expect(condition, detail) {
  if (!condition) throw new CheckFailed(detail);
}

async function check(name, label, run) {
  let line;
  const start = performance.now();
  try {
    const detail = await run();
    line = { case: label, check: name, ok: true, detail: detail ?? "" };
    passed++;
  } catch (error) {
    const detail = error instanceof CheckFailed ? error.message : String(error.stack ?? error).split("\n").slice(0, 3).join(" ");
    line = { case: label, check: name, ok: false, detail };
    failed++;
  }
  line.ms = Math.round(performance.now() - start);
  emit(line);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, condition, limit = 15_000) {
  for (const end = Date.now() + limit; Date.now() < end; await sleep(10)) {
    if (condition()) return;
  }
  throw new CheckFailed(`${what}: waited ${limit} ms in vain`);
}

function send(session, request) {
  return new Promise((resolve, reject) => {
    session.performMessageTransaction(request, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

/** A proxy whose connections can be cut. */
async function proxyTo(url) {
  const target = new URL(url.replace("opc.tcp:", "http:"));
  const sockets = new Set();
  let down = false;
  const server = net.createServer((client) => {
    if (down) return client.destroy();
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => { sockets.delete(from); to.destroy(); });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `opc.tcp://127.0.0.1:${server.address().port}`,
    cut: async (ms) => {
      down = true;
      for (const s of sockets) s.destroy();
      await sleep(ms);
      down = false;
    },
    close: () => { for (const s of sockets) s.destroy(); server.close(); },
  };
}

function identity(token) {
  return token === "UserName"
    ? { type: UserTokenType.UserName, userName: options.user, password: options.password }
    : { type: UserTokenType.Anonymous };
}

/** Runs a function with a session, and ends that. */
async function withSession(url, label, run, extra = {}) {
  const [policy, mode, token] = label.split("/");
  const client = OPCUAClient.create({
    applicationUri,
    certificateFile: pki.certificateFile,
    privateKeyFile: pki.privateKeyFile,
    clientCertificateManager: pki.manager,
    securityPolicy: policyOf(policy),
    securityMode: modeOf(mode),
    endpointMustExist: false,
    keepSessionAlive: true,
    connectionStrategy: { initialDelay: 50, maxDelay: 200, maxRetry: 100 },
    ...extra,
  });
  await client.connect(url);
  try {
    const session = await client.createSession(identity(token));
    try {
      return await run(session, client);
    } finally {
      await session.close(true);
    }
  } finally {
    await client.disconnect();
  }
}

function create(session, extra = {}) {
  const subscription = ClientSubscription.create(session, {
    requestedPublishingInterval: 50, requestedLifetimeCount: 1000, requestedMaxKeepAliveCount: 5,
    maxNotificationsPerPublish: 0, publishingEnabled: true, priority: 1, ...extra,
  });
  return new Promise((resolve, reject) => {
    subscription.on("started", () => resolve(subscription));
    subscription.on("error", reject);
  });
}

const monitor = (subscription, nodeId, parameters = {}, attributeId = AttributeIds.Value, mode = MonitoringMode.Reporting) => {
  const item = ClientMonitoredItem.create(subscription, { nodeId, attributeId },
    { samplingInterval: 0, queueSize: 1000, discardOldest: true, ...parameters }, TimestampsToReturn.Both, mode);
  item.values = [];
  item.failure = new Promise((resolve) => item.on("err", resolve));
  item.on("changed", (v) => item.values.push(v.value?.value ?? v));
  return item;
};

function consecutive(values) {
  for (let i = 1; i < values.length; i++) {
    expect(values[i] === values[i - 1] + 1, `${values[i]} follows ${values[i - 1]}, value ${i} of ${values.length}`);
  }
}

/** Writes one number after the other to nodes of the bench profile, while run lasts, on a connection of its own. */
function withNumbers(label, count, run) {
  const nodes = Array.from({ length: count }, (_, i) => `ns=1;i=${1000 + i}`);
  return withSession(options.bench, label, async (session) => {
    let on = true;
    let number = 0;
    const writing = (async () => {
      for (; on; await sleep(5)) {
        number++;
        const statuses = await session.write(nodes.map((nodeId) => (
          { nodeId, attributeId: AttributeIds.Value, value: { value: { dataType: DataType.Int32, value: number } } })));
        expect(statuses.every((s) => s.isGood()), "a write failed");
      }
    })();
    try {
      return await run(nodes);
    } finally {
      on = false;
      await writing;
    }
  });
}

const setPoint = "ns=2;s=Plant.Line1.Mixer.SpeedSetPoint";
const still = "ns=2;s=AllTypes.Scalars.Int32";

async function runCase(label) {
  await check("data changes in order, none missing", label, () => withNumbers(label, 20, (nodes) => withSession(options.bench, label, async (session) => {
    const subscription = await create(session);
    const items = nodes.map((n) => monitor(subscription, n));
    await until("200 values each", () => items.every((i) => i.values.length >= 200));
    for (const item of items) consecutive(item.values);
    await subscription.terminate();
    return `${items[0].values.length} values each of ${items.length}`;
  })));

  await check("one bad node, the others go on", label, () => withSession(options.url, label, async (session) => {
    const subscription = await create(session);
    const bad = monitor(subscription, "ns=2;s=Nothing");
    const good = monitor(subscription, "i=2258", { samplingInterval: 50 });
    const why = await bad.failure;
    expect(/BadNodeIdUnknown/.test(why), why);
    await until("values", () => good.values.length >= 3);
    await subscription.terminate();
  }));

  await check("keep-alive", label, () => withSession(options.url, label, async (session) => {
    const subscription = await create(session, { requestedMaxKeepAliveCount: 2 });
    let alive = 0;
    subscription.on("keepalive", () => alive++);
    await until("keep-alives", () => alive >= 5);
    const item = monitor(subscription, still);
    await until("a value", () => item.values.length === 1);
    const before = alive;
    await until("keep-alives", () => alive >= before + 3);
    expect(item.values.length === 1, `${item.values.length} values of a variable that stands still`);
    await subscription.terminate();
  }));

  await check("events", label, () => withSession(options.url, label, async (session) => {
    const subscription = await create(session);
    const fields = ["EventType", "SourceName", "Severity", "Message"];
    const item = ClientMonitoredItem.create(subscription, { nodeId: "i=2253", attributeId: AttributeIds.EventNotifier },
      { samplingInterval: 0, queueSize: 100, discardOldest: true, filter: constructEventFilter(fields) }, TimestampsToReturn.Neither);
    const texts = [];
    item.on("changed", (e) => texts.push([e[0].value.toString(), e[1].value, e[2].value, e[3].value.text].join(" ")));
    await sleep(200);
    const call = async () => (await session.call({ objectId: "ns=2;s=Plant.Line1.Packer", methodId: "ns=2;s=Plant.Line1.Packer.StartBatch", inputArguments: [
      new Variant({ dataType: DataType.String, value: "Crates" }), new Variant({ dataType: DataType.UInt32, value: 1 }),
    ] })).statusCode;
    expect((await call()).isGood(), "StartBatch failed");
    await until("the end of the batch", () => texts.some((t) => /is complete: 1 pieces of Crates/.test(t)));
    expect(texts.some((t) => /^ns=0;i=2130 Packer 200 Batch \d+ begins: 1 pieces of Crates$/.test(t)), texts.join("; "));
    await subscription.terminate();
    return texts.join("; ");
  }));

  await check("modify the subscription and an item", label, () => withSession(options.url, label, async (session) => {
    const subscription = await create(session);
    const revised = await subscription.modify({ requestedPublishingInterval: 80, requestedMaxKeepAliveCount: 3, requestedLifetimeCount: 500 });
    expect(revised.revisedPublishingInterval === 80 && revised.revisedMaxKeepAliveCount === 3, JSON.stringify(revised));
    const item = monitor(subscription, setPoint);
    await until("the first value", () => item.values.length === 1);
    const write = async (v) => expect((await session.write({ nodeId: setPoint, attributeId: AttributeIds.Value, value: { value: { dataType: DataType.Double, value: v } } })).isGood(), "write failed");
    const start = item.values[0];
    const result = await item.modify({ samplingInterval: 0, queueSize: 7, discardOldest: true,
      filter: new DataChangeFilter({ trigger: DataChangeTrigger.StatusValue, deadbandType: DeadbandType.Absolute, deadbandValue: 10 }) });
    expect(result.statusCode.isGood() && result.revisedQueueSize === 7, JSON.stringify(result));
    await write(start + 5);
    await write(start + 20);
    await until("a change", () => item.values.includes(start + 20));
    expect(!item.values.includes(start + 5), "a change within the deadband was reported");
    await item.setMonitoringMode(MonitoringMode.Disabled);
    await write(start + 100);
    await sleep(300);
    expect(!item.values.includes(start + 100), "a disabled item reported");
    await item.setMonitoringMode(MonitoringMode.Reporting);
    await until("the present value", () => item.values.includes(start + 100));
    await subscription.setPublishingMode(false);
    await write(start);
    await sleep(300);
    expect(!item.values.slice(1).includes(start), "reported while publishing was off");
    await subscription.setPublishingMode(true);
    await until("the value", () => item.values.slice(1).includes(start));
    await item.terminate();
    await subscription.terminate();
  }));

  await check("triggering", label, () => withSession(options.url, label, async (session) => {
    const subscription = await create(session);
    const trigger = monitor(subscription, setPoint, { queueSize: 1 });
    const linked = monitor(subscription, "i=2258", { samplingInterval: 20, queueSize: 1 }, AttributeIds.Value, MonitoringMode.Sampling);
    await until("the items", () => trigger.monitoredItemId && linked.monitoredItemId && trigger.values.length === 1);
    await sleep(300);
    expect(linked.values.length === 0, "a sampling item reported");
    const response = await send(session, new SetTriggeringRequest({
      subscriptionId: subscription.subscriptionId, triggeringItemId: trigger.monitoredItemId, linksToAdd: [linked.monitoredItemId, 4_000_000], linksToRemove: [],
    }));
    expect(response.addResults[0].isGood() && response.addResults[1].name === "BadMonitoredItemIdInvalid", response.addResults.join());
    const value = trigger.values[0];
    for (const v of [value + 1, value]) {
      const before = linked.values.length;
      await session.write({ nodeId: setPoint, attributeId: AttributeIds.Value, value: { value: { dataType: DataType.Double, value: v } } });
      await until("the linked item", () => linked.values.length > before);
    }
    await subscription.terminate();
  }));

  await check("republish after a cut", label, async () => {
    const proxy = await proxyTo(options.bench);
    try {
      return await withNumbers(label, 1, (nodes) => withSession(proxy.url, label, async (session, client) => {
        const subscription = await create(session);
        const item = monitor(subscription, nodes[0]);
        let reconnected = 0;
        client.on("connection_reestablished", () => reconnected++);
        await until("50 values", () => item.values.length >= 50);
        for (let i = 1; i <= 2; i++) {
          const before = item.values.length;
          await proxy.cut(700);
          await until("the connection", () => reconnected >= i, 30_000);
          await until("values behind the cut", () => item.values.length >= before + 150, 30_000);
        }
        consecutive(item.values);
        await subscription.terminate();
        return `${item.values.length} values over ${reconnected} cuts`;
      }));
    } finally {
      proxy.close();
    }
  });

  await check("transfer to another session", label, () => withNumbers(label, 1, (nodes) => withSession(options.bench, label, (first) => withSession(options.bench, label, async (second) => {
    const { subscriptionId } = await send(first, new CreateSubscriptionRequest({
      requestedPublishingInterval: 50, requestedLifetimeCount: 1000, requestedMaxKeepAliveCount: 5, publishingEnabled: true,
    }));
    const made = await send(first, new CreateMonitoredItemsRequest({
      subscriptionId, timestampsToReturn: TimestampsToReturn.Both,
      itemsToCreate: [{ itemToMonitor: { nodeId: nodes[0], attributeId: AttributeIds.Value }, monitoringMode: MonitoringMode.Reporting,
        requestedParameters: { clientHandle: 1, samplingInterval: 0, queueSize: 1000, discardOldest: true } }],
    }));
    expect(made.results[0].statusCode.isGood(), made.results[0].statusCode.name);
    const values = [];
    const take = (message) => {
      for (const d of message.notificationData) for (const i of d.monitoredItems ?? []) values.push(i.value.value.value);
    };
    const one = await send(first, new PublishRequest({ subscriptionAcknowledgements: [] }));
    take(one.notificationMessage);
    const number = one.notificationMessage.sequenceNumber;
    expect(number === 1 && one.availableSequenceNumbers[0] === 1, `first message ${number}`);
    const moved = await send(second, new TransferSubscriptionsRequest({ subscriptionIds: [subscriptionId, 77], sendInitialValues: false }));
    if (label.startsWith("None/") && label.endsWith("/Anonymous")) {
      // Nobody can know that it is the same client.
      expect(moved.results[0].statusCode.name === "BadUserAccessDenied", moved.results[0].statusCode.name);
      await send(first, new DeleteSubscriptionsRequest({ subscriptionIds: [subscriptionId] }));
      return "refused, as it must be";
    }
    expect(moved.results[0].statusCode.isGood() && moved.results[1].statusCode.name === "BadSubscriptionIdInvalid", moved.results.map((r) => r.statusCode.name).join());
    expect([...moved.results[0].availableSequenceNumbers].includes(1), `available ${[...moved.results[0].availableSequenceNumbers]}`);
    const again = await send(second, new RepublishRequest({ subscriptionId, retransmitSequenceNumber: 1 }));
    expect(again.notificationMessage.notificationData[0].monitoredItems[0].value.value.value === values[0], "another message");
    let last = 1;
    for (let i = 0; i < 10; i++) {
      const p = await send(second, new PublishRequest({ subscriptionAcknowledgements: [{ subscriptionId, sequenceNumber: last }] }));
      if (!p.notificationMessage.notificationData?.length) continue;
      expect(p.notificationMessage.sequenceNumber === last + 1, `${p.notificationMessage.sequenceNumber} follows ${last}`);
      expect(p.results.every((r) => r.isGood()), p.results.map((r) => r.name).join());
      last++;
      take(p.notificationMessage);
    }
    consecutive(values);
    const told = await send(first, new PublishRequest({ subscriptionAcknowledgements: [] }));
    expect(told.notificationMessage.notificationData[0].status.name === "GoodSubscriptionTransferred", JSON.stringify(told.notificationMessage));
    await send(second, new DeleteSubscriptionsRequest({ subscriptionIds: [subscriptionId] }));
    return `${values.length} values over the transfer`;
  }))));
}

for (const label of options.case) await runCase(label);
emit({ event: "done", passed, failed });
await pki.manager.dispose();
process.exit(failed === 0 ? 0 : 1);
