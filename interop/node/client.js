// A node-opcua client that goes through every service of our server.
//
//   node node/client.js --url opc.tcp://127.0.0.1:4840 --pki DIR
//        --case None/None/Anonymous --case Basic256Sha256/Sign/UserName …
//        [--user operator --password operator] [--structures]
//
// --structures says that the server has structures of its own types; they are
// then looked for. Each case is policy/mode/token. Each check prints one line
// {"case","check","ok","detail","ms"}; the last line is {"event":"done",…}.
// Exit code: 0 every check held, 1 one did not, 2 wrong usage.
//
// Nothing here knows the address space beforehand: the folder AllTypes and a
// method with arguments are found by browsing, as a stranger would find them.

import path from "node:path";
import { BinaryStream } from "node-opcua-binary-stream";
import { CancelRequest } from "node-opcua-types";
import {
  AttributeIds, BrowseDescription, BrowseDirection, BrowseNextRequest, BrowseRequest, CallRequest, DataType, DataValue,
  NodeClass, OPCUAClient, QueryFirstRequest, ReadRequest, StatusCodes, TimestampsToReturn,
  TranslateBrowsePathsToNodeIdsRequest, UserTokenType, Variant, VariantArrayType, WriteRequest,
  coerceNodeId, encodeVariant, makeBrowsePath,
} from "node-opcua-client";
import { emit, makePki, modeOf, parseArguments, policyOf } from "./peer.js";

const options = parseArguments(process.argv.slice(2), {
  url: "string", pki: "string", case: "list", user: "string", password: "string", structures: "boolean",
});
if (!options.url || !options.pki || !options.case) {
  process.stderr.write("client.js needs --url, --pki and at least one --case\n");
  process.exit(2);
}
const applicationUri = "urn:localhost:actua-interop:client";
const pki = await makePki(path.join(options.pki, "own"), "client", applicationUri);

const hasProperty = "i=46";

let passed = 0;
let failed = 0;

class CheckFailed extends Error {}

function expect(condition, detail) {
  if (!condition) throw new CheckFailed(detail);
}

function expectStatus(status, names, what) {
  const wanted = Array.isArray(names) ? names : [names];
  expect(wanted.includes(status.name), `${what}: ${status.name}, wanted ${wanted.join(" or ")}`);
}

/** Runs one check; what it returns becomes the detail of its line. */
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
  return line.ok;
}

/** Sends any request and returns the response; a ServiceFault throws. */
function send(session, request) {
  return new Promise((resolve, reject) => {
    session.performMessageTransaction(request, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

/** The status a request ends with when the service as a whole fails. */
async function faultOf(promise) {
  try {
    const response = await promise;
    return response?.responseHeader?.serviceResult ?? StatusCodes.Good;
  } catch (error) {
    const result = error.response?.responseHeader?.serviceResult;
    if (result) return result;
    // Where a helper of node-opcua dropped the response, its message begins
    // with the name of the status.
    const named = StatusCodes[/^(Bad\w+)/.exec(error.message)?.[1]];
    if (named) return named;
    throw error;
  }
}

const scratch = new BinaryStream(1 << 20);

/** A value's bytes on the wire: the one comparison that is right for every type. */
function encoded(variant) {
  scratch.length = 0;
  encodeVariant(variant, scratch);
  return Buffer.from(scratch.buffer.subarray(0, scratch.length));
}

const same = (a, b) => Buffer.compare(encoded(a), encoded(b)) === 0;

async function readAttribute(session, nodeId, attributeId = AttributeIds.Value, indexRange = undefined) {
  const response = await send(session, new ReadRequest({
    maxAge: 0,
    timestampsToReturn: TimestampsToReturn.Both,
    nodesToRead: [{ nodeId, attributeId, indexRange }],
  }));
  return response.results[0];
}

async function writeValue(session, nodeId, value, indexRange = undefined) {
  const response = await send(session, new WriteRequest({
    nodesToWrite: [{ nodeId, attributeId: AttributeIds.Value, indexRange, value: new DataValue({ value }) }],
  }));
  return response.results[0];
}

function description(nodeId, extra = {}) {
  return new BrowseDescription({
    nodeId,
    browseDirection: BrowseDirection.Forward,
    referenceTypeId: "i=33", // HierarchicalReferences
    includeSubtypes: true,
    nodeClassMask: 0,
    resultMask: 63,
    ...extra,
  });
}

async function browse(session, nodeId, limit = 0, extra = {}) {
  const response = await send(session, new BrowseRequest({
    requestedMaxReferencesPerNode: limit,
    nodesToBrowse: [description(nodeId, extra)],
  }));
  return response.results[0];
}

/** All references of a node, whatever limit the server applies to one answer. */
async function browseAll(session, nodeId, limit = 0, extra = {}) {
  let result = await browse(session, nodeId, limit, extra);
  const references = [...(result.references ?? [])];
  let rounds = 1;
  while (result.continuationPoint?.length > 0) {
    const response = await send(session, new BrowseNextRequest({
      releaseContinuationPoints: false,
      continuationPoints: [result.continuationPoint],
    }));
    result = response.results[0];
    expectStatus(result.statusCode, "Good", "BrowseNext");
    expect(limit === 0 || (result.references ?? []).length <= limit, `BrowseNext gave more than ${limit} references`);
    references.push(...(result.references ?? []));
    rounds++;
  }
  return { statusCode: result.statusCode, references, rounds };
}

/** Walks the objects below Objects (not the Server object) for what the checks need. */
async function explore(session) {
  const found = { allTypes: null, methods: [], variables: [] };
  const seen = new Set();
  let level = [coerceNodeId("i=85")];
  for (let depth = 0; depth < 6 && level.length > 0 && seen.size < 2000; depth++) {
    const next = [];
    for (const parent of level) {
      for (const reference of (await browseAll(session, parent)).references) {
        const key = reference.nodeId.toString();
        if (seen.has(key) || key === "ns=0;i=2253") continue;
        seen.add(key);
        if (reference.browseName.name === "AllTypes") found.allTypes = reference.nodeId;
        if (reference.nodeClass === NodeClass.Method) found.methods.push({ objectId: parent, methodId: reference.nodeId });
        if (reference.nodeClass === NodeClass.Object) next.push(reference.nodeId);
        if (reference.nodeClass === NodeClass.Variable) found.variables.push(reference.nodeId);
      }
    }
    level = next;
  }
  return found;
}

/** The variables of the AllTypes folder (and of folders in it) with data type and rank. */
async function describeVariables(session, folder) {
  const variables = [];
  const folders = [folder];
  while (folders.length > 0) {
    for (const reference of (await browseAll(session, folders.pop())).references) {
      if (reference.nodeClass === NodeClass.Object) folders.push(reference.nodeId);
      if (reference.nodeClass !== NodeClass.Variable) continue;
      const nodeId = reference.nodeId;
      const response = await send(session, new ReadRequest({
        timestampsToReturn: TimestampsToReturn.Neither,
        nodesToRead: [AttributeIds.DataType, AttributeIds.ValueRank, AttributeIds.AccessLevel, AttributeIds.Value]
          .map((attributeId) => ({ nodeId, attributeId })),
      }));
      const [dataType, valueRank, accessLevel, value] = response.results;
      variables.push({
        nodeId,
        name: reference.browseName.name,
        dataType: dataType.value.value,
        valueRank: valueRank.value.value,
        writable: (accessLevel.value.value & 2) !== 0,
        value,
      });
    }
  }
  return variables;
}

function sampleArgument(argument) {
  const type = argument.dataType.namespace === 0 ? argument.dataType.value : 0;
  if (argument.valueRank !== -1 && argument.valueRank !== -2 && argument.valueRank !== -3) return null;
  if (type === DataType.Boolean) return new Variant({ dataType: type, value: true });
  if (type === DataType.Int64 || type === DataType.UInt64) {
    return new Variant({ dataType: type, arrayType: VariantArrayType.Scalar, value: [0, 1] });
  }
  if (type >= DataType.SByte && type <= DataType.Double) return new Variant({ dataType: type, value: 1 });
  if (type === DataType.String) return new Variant({ dataType: type, value: "interop" });
  return null;
}

/** The argument descriptions of a method; empty where it has none. */
async function argumentsOf(session, methodId) {
  const properties = (await browseAll(session, methodId, 0, { referenceTypeId: hasProperty })).references;
  const read = async (name) => {
    const property = properties.find((p) => p.browseName.name === name);
    return property ? ((await readAttribute(session, property.nodeId)).value.value ?? []) : [];
  };
  return { inputs: await read("InputArguments"), outputs: await read("OutputArguments") };
}

/** A method whose arguments we can make up, with those arguments. */
async function callableMethod(session, methods) {
  for (const method of methods) {
    const { inputs, outputs } = await argumentsOf(session, method.methodId);
    const inputArguments = inputs.map(sampleArgument);
    if (inputs.length === 0 || inputArguments.includes(null)) continue;
    let result = await call(session, { ...method, inputArguments });
    if (result.statusCode === StatusCodes.BadInvalidState) {
      // An earlier case may have left a machine busy: the methods without arguments reset it.
      for (const other of methods.filter((m) => m.objectId.toString() === method.objectId.toString())) {
        if ((await argumentsOf(session, other.methodId)).inputs.length === 0) await call(session, { ...other, inputArguments: [] });
      }
      result = await call(session, { ...method, inputArguments });
    }
    if (result.statusCode.isGood()) return { ...method, inputArguments, outputCount: outputs.length, result };
  }
  return null;
}

async function call(session, methodToCall) {
  return (await send(session, new CallRequest({ methodsToCall: [methodToCall] }))).results[0];
}

function makeClient(policy, mode, extra = {}) {
  return OPCUAClient.create({
    applicationName: "Actua interop client",
    applicationUri,
    clientCertificateManager: pki.manager,
    certificateFile: pki.certificateFile,
    privateKeyFile: pki.privateKeyFile,
    securityMode: modeOf(mode),
    securityPolicy: policyOf(policy),
    // Without security the address may be that of a recording proxy, which no endpoint names.
    endpointMustExist: mode !== "None",
    connectionStrategy: { maxRetry: 0, initialDelay: 100, maxDelay: 100 },
    keepSessionAlive: false,
    transportTimeout: 15_000,
    ...extra,
  });
}

function identity(token, password = options.password) {
  if (token === "Anonymous") return { type: UserTokenType.Anonymous };
  return { type: UserTokenType.UserName, userName: options.user, password };
}

async function discoveryChecks(label, client, policy, mode, token) {
  await check("FindServers", label, async () => {
    const servers = await client.findServers();
    expect(servers.length >= 1, "no server");
    expect(servers[0].applicationUri, "no application URI");
    expect((servers[0].discoveryUrls ?? []).length >= 1, "no discovery URL");
    return servers[0].applicationUri;
  });
  await check("GetEndpoints", label, async () => {
    const endpoints = await client.getEndpoints();
    const endpoint = endpoints.find((e) => e.securityPolicyUri === policyOf(policy) && e.securityMode === modeOf(mode));
    expect(endpoint, `no endpoint ${policy}/${mode} among ${endpoints.length}`);
    expect(endpoint.transportProfileUri.endsWith("uatcp-uasc-uabinary"), `profile ${endpoint.transportProfileUri}`);
    expect(mode === "None" || endpoint.serverCertificate?.length > 0, "no server certificate");
    const wanted = UserTokenType[token];
    expect((endpoint.userIdentityTokens ?? []).some((t) => t.tokenType === wanted), `no token ${token}`);
    return `${endpoints.length} endpoints`;
  });
}

async function viewChecks(label, session) {
  const server = coerceNodeId("i=2253");
  await check("Browse", label, async () => {
    const result = await browse(session, "i=84");
    expectStatus(result.statusCode, "Good", "Root");
    const names = result.references.map((r) => r.browseName.name);
    for (const name of ["Objects", "Types", "Views"]) expect(names.includes(name), `no ${name} below Root`);
    const objects = result.references.find((r) => r.browseName.name === "Objects");
    expect(objects.nodeId.toString() === "ns=0;i=85", `Objects is ${objects.nodeId}`);
    expect(objects.nodeClass === NodeClass.Object && objects.isForward, "wrong class or direction");
    expect(objects.typeDefinition.toString() === "ns=0;i=61", `type ${objects.typeDefinition}`);
    expect(objects.referenceTypeId.toString() === "ns=0;i=35", `reference ${objects.referenceTypeId}`);
  });
  await check("Browse inverse and masks", label, async () => {
    const up = await browse(session, "i=85", 0, { browseDirection: BrowseDirection.Inverse });
    expect(up.references.some((r) => r.nodeId.toString() === "ns=0;i=84" && !r.isForward), "Root is not above Objects");
    const classes = await browse(session, server, 0, { nodeClassMask: NodeClass.Method });
    expect(classes.references.every((r) => r.nodeClass === NodeClass.Method), "a class outside the mask");
    const bare = await browse(session, "i=84", 0, { resultMask: 0 });
    expect(bare.references.every((r) => !r.displayName.text && r.nodeClass === NodeClass.Unspecified), "fields outside the result mask");
  });
  await check("Browse errors", label, async () => {
    expectStatus((await browse(session, "ns=1;s=does not exist")).statusCode, "BadNodeIdUnknown", "unknown node");
    expectStatus((await browse(session, "i=84", 0, { referenceTypeId: "i=999999" })).statusCode, "BadReferenceTypeIdInvalid", "reference type");
    expectStatus(await faultOf(send(session, new BrowseRequest({ nodesToBrowse: [] }))), "BadNothingToDo", "no nodes");
  });
  await check("BrowseNext", label, async () => {
    const whole = await browseAll(session, server);
    const parts = await browseAll(session, server, 2);
    expect(parts.rounds > 1, "no continuation point");
    const list = (result) => result.references.map((r) => `${r.referenceTypeId}>${r.nodeId}`).sort().join("\n");
    expect(list(whole) === list(parts), `${parts.references.length} references in parts, ${whole.references.length} at once`);
    return `${parts.references.length} references in ${parts.rounds} answers`;
  });
  await check("BrowseNext release", label, async () => {
    const first = await browse(session, server, 1);
    expect(first.continuationPoint?.length > 0, "no continuation point");
    const release = (releaseContinuationPoints) => send(session, new BrowseNextRequest({
      releaseContinuationPoints, continuationPoints: [first.continuationPoint],
    }));
    const released = await release(true);
    expect((released.results ?? []).every((r) => !(r.references?.length > 0)), "a release returned references");
    expectStatus((await release(false)).results[0].statusCode, "BadContinuationPointInvalid", "after the release");
  });
  await check("TranslateBrowsePathsToNodeIds", label, async () => {
    const response = await send(session, new TranslateBrowsePathsToNodeIdsRequest({
      browsePaths: [
        makeBrowsePath("i=84", "/Objects/Server/ServerStatus/State"),
        makeBrowsePath("i=84", "/Objects/NoSuchThing"),
        makeBrowsePath("ns=1;s=does not exist", "/Objects"),
      ],
    }));
    expectStatus(response.results[0].statusCode, "Good", "State");
    expect(response.results[0].targets[0].targetId.toString() === "ns=0;i=2259", `State is ${response.results[0].targets[0].targetId}`);
    expect(response.results[0].targets[0].remainingPathIndex === 0xffffffff, "remaining path index");
    expectStatus(response.results[1].statusCode, "BadNoMatch", "no such thing");
    expectStatus(response.results[2].statusCode, "BadNodeIdUnknown", "unknown start");
  });
  await check("RegisterNodes", label, async () => {
    const registered = await session.registerNodes(["i=2258", "i=2259"]);
    expect(registered.length === 2, `${registered.length} ids`);
    const value = await readAttribute(session, registered[0]);
    expectStatus(value.statusCode, "Good", "read of a registered node");
    await session.unregisterNodes(registered);
  });
}

async function readChecks(label, session, variables) {
  const scalar = variables.find((v) => v.dataType.value === DataType.Int32 && v.valueRank === -1);
  const array = variables.find((v) => v.dataType.value === DataType.Int32 && v.valueRank === 1);
  await check("Read every attribute", label, async () => {
    // Which attributes a class must have and must not have: Part 3, 5.9.
    const attributes = Array.from({ length: 27 }, (_, i) => i + 1);
    const nodes = [
      { nodeId: scalar.nodeId, must: [1, 2, 3, 4, 13, 14, 15, 17, 18, 20], mustNot: [8, 9, 10, 11, 12, 21, 22, 23] },
      { nodeId: coerceNodeId("i=85"), must: [1, 2, 3, 4, 12], mustNot: [8, 9, 10, 11, 13, 14, 15, 17, 18, 20, 21, 22] },
      { nodeId: coerceNodeId("i=35"), must: [1, 2, 3, 4, 8, 9], mustNot: [11, 12, 13, 14, 17, 20, 21] },
      { nodeId: coerceNodeId("i=6"), must: [1, 2, 3, 4, 8], mustNot: [9, 11, 12, 13, 14, 17, 20, 21] },
      { nodeId: coerceNodeId("i=11492"), must: [1, 2, 3, 4, 21, 22], mustNot: [8, 9, 11, 12, 13, 14, 17, 20] },
    ];
    for (const { nodeId, must, mustNot } of nodes) {
      const response = await send(session, new ReadRequest({
        timestampsToReturn: TimestampsToReturn.Both,
        nodesToRead: attributes.map((attributeId) => ({ nodeId, attributeId })),
      }));
      for (const id of must) expectStatus(response.results[id - 1].statusCode, "Good", `${nodeId} attribute ${id}`);
      for (const id of mustNot) expectStatus(response.results[id - 1].statusCode, "BadAttributeIdInvalid", `${nodeId} attribute ${id}`);
      expect(response.results[0].value.value.toString() === nodeId.toString(), "NodeId attribute");
    }
  });
  await check("Read every built-in type", label, async () => {
    const types = new Set();
    for (const { name, dataType, valueRank, value } of variables) {
      expectStatus(value.statusCode, "Good", name);
      types.add(value.value.dataType);
      if (dataType.namespace === 0 && dataType.value <= 21) {
        expect(value.value.dataType === dataType.value, `${name} holds ${DataType[value.value.dataType]}`);
      }
      if (valueRank === -1) expect(value.value.arrayType === VariantArrayType.Scalar, `${name} is not a scalar`);
      if (valueRank === 1) expect(value.value.arrayType === VariantArrayType.Array, `${name} is not an array`);
      if (valueRank > 1) expect(value.value.dimensions?.length === valueRank, `${name} is no matrix of rank ${valueRank}`);
    }
    const missing = [];
    for (let type = DataType.Boolean; type <= DataType.ExtensionObject; type++) if (!types.has(type)) missing.push(DataType[type]);
    expect(missing.length === 0, `no variable of type ${missing.join(", ")}`);
    return `${variables.length} variables`;
  });
  await check("Read IndexRange", label, async () => {
    const whole = (await readAttribute(session, array.nodeId)).value.value;
    expect(whole.length >= 2, "the Int32 array is too short");
    const one = await readAttribute(session, array.nodeId, AttributeIds.Value, "1");
    expectStatus(one.statusCode, "Good", "1");
    expect(one.value.value.length === 1 && one.value.value[0] === whole[1], `element 1 is ${one.value}`);
    const beyond = await readAttribute(session, array.nodeId, AttributeIds.Value, `0:${whole.length + 5}`);
    expectStatus(beyond.statusCode, "Good", "a range that ends too far");
    expect(beyond.value.value.length === whole.length, `${beyond.value.value.length} elements`);
    const text = variables.find((v) => v.dataType.value === DataType.String && v.valueRank === -1);
    const slice = await readAttribute(session, text.nodeId, AttributeIds.Value, "0:1");
    expectStatus(slice.statusCode, "Good", "a slice of a String");
    const matrix = variables.find((v) => v.valueRank === 2);
    const corner = await readAttribute(session, matrix.nodeId, AttributeIds.Value, "1,1:1");
    expectStatus(corner.statusCode, ["Good", "BadIndexRangeInvalid"], "a slice of a matrix");
    const cell = await readAttribute(session, matrix.nodeId, AttributeIds.Value, "0:1,1");
    expectStatus(cell.statusCode, "Good", "a column of a matrix");
    expect(cell.value.dimensions?.join() === "2,1", `a column has dimensions ${cell.value.dimensions}`);
  });
  await check("Read IndexRange errors", label, async () => {
    const status = async (range, nodeId = array.nodeId) => (await readAttribute(session, nodeId, AttributeIds.Value, range)).statusCode;
    expectStatus(await status("5000"), "BadIndexRangeNoData", "beyond the array");
    expectStatus(await status("2:1"), "BadIndexRangeInvalid", "2:1");
    expectStatus(await status("1:1"), "BadIndexRangeInvalid", "1:1");
    expectStatus(await status("x"), "BadIndexRangeInvalid", "x");
    expectStatus(await status("0", scalar.nodeId), ["BadIndexRangeNoData", "BadIndexRangeDataMismatch"], "of a scalar");
  });
  await check("Read TimestampsToReturn", label, async () => {
    for (const name of ["Source", "Server", "Both", "Neither"]) {
      const response = await send(session, new ReadRequest({
        maxAge: 0, timestampsToReturn: TimestampsToReturn[name], nodesToRead: [{ nodeId: scalar.nodeId, attributeId: AttributeIds.Value }],
      }));
      const { sourceTimestamp, serverTimestamp } = response.results[0];
      expect((sourceTimestamp != null) === ["Source", "Both"].includes(name), `${name}: source timestamp ${sourceTimestamp}`);
      expect((serverTimestamp != null) === ["Server", "Both"].includes(name), `${name}: server timestamp ${serverTimestamp}`);
    }
    const attribute = await readAttribute(session, scalar.nodeId, AttributeIds.DisplayName);
    expect(attribute.sourceTimestamp == null, "a source timestamp on an attribute other than Value");
  });
  await check("Read errors", label, async () => {
    expectStatus((await readAttribute(session, "ns=1;s=does not exist")).statusCode, "BadNodeIdUnknown", "unknown node");
    const unknown = new ReadRequest({ nodesToRead: [{ nodeId: scalar.nodeId, attributeId: AttributeIds.Value }] });
    unknown.nodesToRead[0].attributeId = 99; // the constructor would refuse it
    expectStatus((await send(session, unknown)).results[0].statusCode, "BadAttributeIdInvalid", "attribute 99");
    const nodesToRead = [{ nodeId: scalar.nodeId, attributeId: AttributeIds.Value }];
    expectStatus(await faultOf(send(session, new ReadRequest({ nodesToRead: [] }))), "BadNothingToDo", "no nodes");
    expectStatus(await faultOf(send(session, new ReadRequest({ maxAge: -1, nodesToRead }))), "BadMaxAgeInvalid", "negative age");
    const encoding = await send(session, new ReadRequest({ nodesToRead: [{ ...nodesToRead[0], dataEncoding: { name: "No such encoding" } }] }));
    expectStatus(encoding.results[0].statusCode, ["BadDataEncodingInvalid", "BadDataEncodingUnsupported"], "data encoding");
  });
}

/** Structures of the server's own types, which only the descriptions of the types in its address space explain. */
async function structureChecks(label, session, nodes) {
  await check("Read structures by DataTypeDefinition", label, async () => {
    const response = await send(session, new ReadRequest({
      timestampsToReturn: TimestampsToReturn.Neither,
      nodesToRead: nodes.map((nodeId) => ({ nodeId, attributeId: AttributeIds.Value })),
    }));
    const isOpaque = (value) => value?.constructor?.name === "OpaqueStructure";
    const opaque = nodes.filter((_, i) => isOpaque(response.results[i].value?.value));
    expect(opaque.length > 0 || !options.structures, "no variable holds a structure of another namespace than 0");
    for (const nodeId of opaque) {
      const value = (await session.read({ nodeId, attributeId: AttributeIds.Value })).value.value;
      expect(!isOpaque(value) && Object.keys(value).length > 0, `${nodeId} cannot be decoded`);
    }
    return `${opaque.length} structures`;
  });
}

async function writeChecks(label, session, variables) {
  const find = (dataType, valueRank) => variables.find((v) => v.dataType.value === dataType && v.valueRank === valueRank && v.writable);
  await check("Write every built-in type", label, async () => {
    const writable = variables.filter((v) => v.writable);
    expect(writable.length >= 21, `only ${writable.length} writable variables`);
    for (const { nodeId, name, value } of writable) {
      expectStatus(await writeValue(session, nodeId, value.value), "Good", `write of ${name}`);
      const after = await readAttribute(session, nodeId);
      expectStatus(after.statusCode, "Good", `read of ${name}`);
      expect(same(after.value, value.value), `${name} came back as ${after.value}`);
    }
    return `${writable.length} variables`;
  });
  await check("Write a new value", label, async () => {
    const { nodeId, value } = find(DataType.Double, -1);
    const changed = new Variant({ dataType: DataType.Double, value: -12.5 });
    expectStatus(await writeValue(session, nodeId, changed), "Good", "write");
    expect(same((await readAttribute(session, nodeId)).value, changed), "the new value is not there");
    expectStatus(await writeValue(session, nodeId, value.value), "Good", "write of the old value");
  });
  await check("Write IndexRange", label, async () => {
    const { nodeId, value } = find(DataType.Int32, 1);
    const element = new Variant({ dataType: DataType.Int32, arrayType: VariantArrayType.Array, value: Int32Array.from([4711]) });
    expectStatus(await writeValue(session, nodeId, element, "1"), "Good", "element 1");
    const after = (await readAttribute(session, nodeId)).value.value;
    expect(after.length === value.value.value.length && after[1] === 4711 && after[0] === value.value.value[0], `array is ${after}`);
    expectStatus(await writeValue(session, nodeId, element, "5000"), ["BadIndexRangeNoData", "BadIndexRangeInvalid"], "beyond the array");
    expectStatus(await writeValue(session, nodeId, element, "0:1"), ["BadIndexRangeDataMismatch", "BadIndexRangeInvalid", "BadIndexRangeNoData"], "one value for two elements");
    expectStatus(await writeValue(session, nodeId, element, "2:1"), "BadIndexRangeInvalid", "2:1");
    expectStatus(await writeValue(session, nodeId, value.value), "Good", "write of the old value");
  });
  await check("Write errors", label, async () => {
    const scalar = find(DataType.Int32, -1);
    const text = new Variant({ dataType: DataType.String, value: "no number" });
    expectStatus(await writeValue(session, scalar.nodeId, text), "BadTypeMismatch", "String to Int32");
    const list = new Variant({ dataType: DataType.Int32, arrayType: VariantArrayType.Array, value: Int32Array.from([1, 2]) });
    const listStatus = await writeValue(session, scalar.nodeId, list);
    await writeValue(session, scalar.nodeId, scalar.value.value); // for the checks after this one, should it have been taken
    expectStatus(listStatus, "BadTypeMismatch", "array to scalar");
    const time = new Variant({ dataType: DataType.DateTime, value: new Date() });
    expectStatus(await writeValue(session, "i=2258", time), ["BadNotWritable", "BadUserAccessDenied"], "CurrentTime");
    expectStatus(await writeValue(session, "ns=1;s=does not exist", text), "BadNodeIdUnknown", "unknown node");
    expectStatus(await faultOf(send(session, new WriteRequest({ nodesToWrite: [] }))), "BadNothingToDo", "no nodes");
    expect(same((await readAttribute(session, scalar.nodeId)).value, scalar.value.value), "a refused write changed the value");
  });
}

async function callChecks(label, session, methods) {
  let method;
  await check("Call", label, async () => {
    method = await callableMethod(session, methods);
    expect(method, `none of ${methods.length} methods could be called`);
    expect((method.result.outputArguments ?? []).length === method.outputCount, `${method.result.outputArguments?.length} outputs`);
    return `${method.methodId}(${method.inputArguments.map((a) => a.value)}) = ${(method.result.outputArguments ?? []).map((a) => a.value)}`;
  });
  await check("Call bad arguments", label, async () => {
    expect(method, "no method to call");
    const { objectId, methodId, inputArguments } = method;
    const wrong = inputArguments.map(() => new Variant({ dataType: DataType.Guid, value: "72962B91-FA75-4AE6-8D28-B404DC7DAF63" }));
    const result = await call(session, { objectId, methodId, inputArguments: wrong });
    expectStatus(result.statusCode, "BadInvalidArgument", "a Guid for each argument");
    expect(result.inputArgumentResults.length === wrong.length, `${result.inputArgumentResults.length} argument results`);
    expectStatus(result.inputArgumentResults[0], "BadTypeMismatch", "argument 0");
    const status = async (changes) => (await call(session, { objectId, methodId, inputArguments, ...changes })).statusCode;
    expectStatus(await status({ inputArguments: [] }), "BadArgumentsMissing", "no arguments");
    expectStatus(await status({ inputArguments: [...inputArguments, inputArguments[0]] }), "BadTooManyArguments", "one argument too many");
    expectStatus(await status({ methodId: "ns=1;s=does not exist" }), ["BadMethodInvalid", "BadNodeIdUnknown"], "unknown method");
    expectStatus(await status({ objectId: "ns=1;s=does not exist" }), "BadNodeIdUnknown", "unknown object");
  });
}

async function largeChecks(label, session, variables) {
  await check("Chunks of a large request and answer", label, async () => {
    // 5000 operations: more than one chunk of 64 KiB in both directions.
    const count = 5000;
    const response = await send(session, new ReadRequest({
      timestampsToReturn: TimestampsToReturn.Neither,
      nodesToRead: Array.from({ length: count }, (_, i) => ({ nodeId: "i=2253", attributeId: i % 2 ? AttributeIds.DisplayName : AttributeIds.BrowseName })),
    }));
    expect(response.results.length === count, `${response.results.length} results`);
    expect(response.results.every((r) => r.statusCode.isGood()), "a bad result");
  });
  await check("Chunks of a large value", label, async () => {
    const variable = variables.find((v) => v.dataType.value === DataType.ByteString && v.valueRank === -1 && v.writable);
    const bytes = Buffer.alloc(300_000, "actua ");
    expectStatus(await writeValue(session, variable.nodeId, new Variant({ dataType: DataType.ByteString, value: bytes })), "Good", "write");
    const back = await readAttribute(session, variable.nodeId);
    expect(Buffer.compare(back.value.value, bytes) === 0, `${back.value.value.length} bytes came back`);
    expectStatus(await writeValue(session, variable.nodeId, variable.value.value), "Good", "write of the old value");
  });
}

async function sessionChecks(label, client, session, token) {
  await check("Unsupported service", label, async () => {
    // Also proves that the channel and the session live on after the fault.
    const fault = await faultOf(send(session, new QueryFirstRequest({ nodeTypes: [], maxDataSetsToReturn: 1, maxReferencesToReturn: 1 })));
    expectStatus(fault, "BadServiceUnsupported", "QueryFirst");
    expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", "the read after it");
  });
  await check("Cancel", label, async () => {
    const response = await send(session, new CancelRequest({ requestHandle: 999999 }));
    expect(response.cancelCount === 0, `${response.cancelCount} requests cancelled`);
    // Every request that was cancelled or not has its answer: the session goes on.
    expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", "the read after it");
  });
  await check("Parallel requests", label, async () => {
    const requests = Array.from({ length: 200 }, (_, i) => readAttribute(session, `i=${i % 2 ? 2258 : 2253}`, AttributeIds.NodeId));
    const values = await Promise.all(requests);
    values.forEach((value, i) => expect(value.value.value.value === (i % 2 ? 2258 : 2253), `answer ${i} is ${value.value}`));
  });
  await check("Two sessions on one channel", label, async () => {
    const second = await client.createSession(identity(token));
    expect(second.sessionId.toString() !== session.sessionId.toString(), "the same session id");
    expectStatus((await readAttribute(second, "i=2258")).statusCode, "Good", "read in the second");
    await second.close();
    expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", "read in the first");
  });
  if (token === "UserName") {
    await check("Wrong password", label, async () => {
      const attempt = client.createSession(identity(token, "wrong")).then((unwanted) => unwanted.close());
      expectStatus(await faultOf(attempt), ["BadUserAccessDenied", "BadIdentityTokenRejected"], "ActivateSession");
      expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", "the read after it");
    });
  }
}

async function renewalCheck(label, policy, mode, token) {
  await check("Renewed security token", label, async () => {
    const client = makeClient(policy, mode, { tokenRenewalInterval: 100 });
    let renewals = 0;
    client.on("security_token_renewed", () => renewals++);
    try {
      await client.connect(options.url);
      const session = await client.createSession(identity(token));
      // Requests keep flowing while tokens change under them.
      const deadline = Date.now() + 5000;
      let reads = 0;
      while (renewals < 2 && Date.now() < deadline) {
        expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", `read after ${renewals} renewals`);
        reads++;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(renewals >= 2, `${renewals} renewals in 5 s`);
      expectStatus((await readAttribute(session, "i=2258")).statusCode, "Good", "the last read");
      await session.close();
      return `${reads} reads over ${renewals} renewals`;
    } finally {
      await client.disconnect();
    }
  });
}

async function runCase(label) {
  const [policy, mode, token] = label.split("/");
  const client = makeClient(policy, mode);
  try {
    const connected = await check("Connect", label, () => client.connect(options.url));
    if (!connected) return;
    await discoveryChecks(label, client, policy, mode, token);
    let session;
    const active = await check("CreateSession and ActivateSession", label, async () => {
      session = await client.createSession(identity(token));
      return `timeout ${session.timeout} ms`;
    });
    if (!active) return;
    await viewChecks(label, session);
    let found = { methods: [], variables: [] };
    let variables = [];
    await check("Explore", label, async () => {
      found = await explore(session);
      expect(found.allTypes, "no folder AllTypes below Objects");
      variables = await describeVariables(session, found.allTypes);
      return `${variables.length} variables, ${found.methods.length} methods`;
    });
    await readChecks(label, session, variables);
    await structureChecks(label, session, found.variables);
    await writeChecks(label, session, variables);
    await callChecks(label, session, found.methods);
    await largeChecks(label, session, variables);
    await sessionChecks(label, client, session, token);
    await check("CloseSession", label, async () => {
      await session.close();
    });
  } finally {
    await client.disconnect();
  }
  await renewalCheck(label, policy, mode, token);
}

for (const label of options.case) await runCase(label);
emit({ event: "done", passed, failed });
await pki.manager.dispose();
process.exit(failed === 0 ? 0 : 1);
