package lakewarden.indexes;

import java.math.BigDecimal;
import java.util.UUID;
import lakewarden.indexes.format.Value;
import lakewarden.indexes.format.ValueClass;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** A column as indexes see it: its field id, the class of its values, and Spark's literals as such. */
final class Column {
  final int field;
  final String name;
  final ValueClass of;
  final int scale;
  private final Type type;

  private Column(int field, String name, ValueClass of, Type type) {
    this.field = field;
    this.name = name;
    this.of = of;
    this.type = type;
    this.scale = type instanceof Types.DecimalType ? ((Types.DecimalType) type).scale() : 0;
  }

  /** The column of that name, structs' fields by their path; null where no index can be of it. */
  static Column of(Schema schema, String[] path) {
    Types.StructType struct = schema.asStruct();
    for (int i = 0; i < path.length; i++) {
      Types.NestedField field = struct.field(path[i]);
      if (field == null) {
        return null;
      }
      if (i == path.length - 1) {
        return of(field, String.join(".", path));
      }
      if (!field.type().isStructType()) {
        return null;
      }
      struct = field.type().asStructType();
    }
    return null;
  }

  /** The column with that field id, which the schema has. */
  static Column of(Schema schema, int field) {
    return of(schema.findField(field), schema.findColumnName(field));
  }

  private static Column of(Types.NestedField field, String name) {
    ValueClass of = classOf(field.type());
    return of == null ? null : new Column(field.fieldId(), name, of, field.type());
  }

  private static ValueClass classOf(Type type) {
    switch (type.typeId()) {
      case BOOLEAN:
        return ValueClass.BOOLEAN;
      case INTEGER:
      case LONG:
        return ValueClass.INTEGER;
      case DATE:
        return ValueClass.DATE;
      case TIMESTAMP:
        return ((Types.TimestampType) type).shouldAdjustToUTC()
            ? ValueClass.TIMESTAMPTZ
            : ValueClass.TIMESTAMP;
      case FLOAT:
      case DOUBLE:
        return ValueClass.FLOAT;
      case DECIMAL:
        return ValueClass.DECIMAL;
      case STRING:
        return ValueClass.STRING;
      case UUID:
        return ValueClass.UUID;
      case FIXED:
      case BINARY:
        return ValueClass.BINARY;
      default:
        return null;
    }
  }

  /** A literal as a value of this column; null where Spark compares it as something else. */
  Value value(Literal<?> literal) {
    Object value = literal.value();
    DataType as = literal.dataType();
    switch (of) {
      case BOOLEAN:
        return value instanceof Boolean ? Value.ofBoolean((Boolean) value) : null;
      case INTEGER:
        boolean whole = value instanceof Integer || value instanceof Long;
        boolean number = as.equals(DataTypes.IntegerType) || as.equals(DataTypes.LongType);
        return whole && number ? Value.ofLong(((Number) value).longValue()) : null;
      case DATE:
        return value instanceof Integer && as.equals(DataTypes.DateType)
            ? Value.ofLong((Integer) value)
            : null;
      case TIMESTAMP:
        return moment(value, as.equals(DataTypes.TimestampNTZType));
      case TIMESTAMPTZ:
        return moment(value, as.equals(DataTypes.TimestampType));
      case FLOAT:
        return real(value);
      case DECIMAL:
        return value instanceof Decimal ? decimal(((Decimal) value).toJavaBigDecimal()) : null;
      case STRING:
        return value instanceof UTF8String && as.equals(DataTypes.StringType)
            ? Value.ofBytes(((UTF8String) value).getBytes())
            : null;
      case UUID:
        return value instanceof UTF8String ? uuid(value.toString()) : null;
      case BINARY:
        return value instanceof byte[] ? Value.ofBytes((byte[]) value) : null;
      default:
        return null;
    }
  }

  private static Value moment(Object value, boolean sameZone) {
    return value instanceof Long && sameZone ? Value.ofLong((Long) value) : null;
  }

  private Value real(Object value) {
    boolean wide = type.typeId() == Type.TypeID.DOUBLE;
    return (wide ? value instanceof Double : value instanceof Float)
        ? Value.ofDouble(((Number) value).doubleValue())
        : null;
  }

  private Value decimal(BigDecimal value) {
    try {
      return Value.ofDecimal(value.setScale(scale));
    } catch (ArithmeticException notOfThisScale) {
      return null;
    }
  }

  private static Value uuid(String text) {
    try {
      UUID value = UUID.fromString(text);
      // Spark compares the text; only the usual spelling stands for one value.
      return value.toString().equals(text) ? Value.ofUuid(value) : null;
    } catch (IllegalArgumentException notOne) {
      return null;
    }
  }
}
